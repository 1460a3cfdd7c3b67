import * as E from 'fp-ts/lib/Either.js';
import { describe, expect, it } from 'vitest';
import { openStemma } from '../../src/fp.js';
import { openaiChat } from '../../src/index.js';

const profile = openaiChat({ model: 'gpt-5.1' });

const value = <A>(result: E.Either<unknown, A>): A => {
  if (E.isLeft(result)) throw new Error(JSON.stringify(result.left));
  return result.right;
};

describe('stemma/fp', () => {
  it('DC4 gives the same as TaskEither: a fault is a Left, and nothing is thrown', async () => {
    const stemma = value(await openStemma({ store: 'memory:' })());
    const main = value(await stemma.start({ id: 'c1' })());
    const appended = value(await main.append({ id: 'm1', role: 'user', content: 'hi' })());
    expect(appended.map(({ id, status }) => [id, status])).toEqual([['m1', 'written']]);
    const again = await main.append({ id: 'm1', role: 'user', content: 'other' })();
    expect(E.isLeft(again) && again.left._tag).toBe('MessageIdConflict');
    const missing = await stemma.open('nothing of this name')();
    expect(missing).toEqual(
      E.left({ _tag: 'NotFound', kind: 'conversation', ref: 'nothing of this name' }),
    );
    const plan = value(await main.preview({ profile })());
    expect(plan.sent).toEqual(['m1']);
  });

  it('SE2 records what the caller function threw, and gives it as a Left', async () => {
    const stemma = value(await openStemma({ store: 'memory:' })());
    const main = value(await stemma.start()());
    value(await main.append({ id: 'm1', role: 'user', content: 'hi' })());
    const call = value(await main.request({ profile })());
    const error = new Error('socket closed');
    const sent = await call.send(() => Promise.reject(error))();
    expect(sent).toEqual(E.left({ _tag: 'CallerThrew', error }));
    const { calls } = value(await main.calls()());
    expect(calls.map(({ state }) => state)).toEqual(['failed']);
    expect(value(await main.session()()).next).toBe('model');
    const lines = value(await stemma.export(main.conversation)());
    expect(lines.length).toBeGreaterThan(5);
  });
});
