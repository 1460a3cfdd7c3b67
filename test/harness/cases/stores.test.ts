import * as E from 'fp-ts/lib/Either.js';
import { describe, expect, it } from 'vitest';
import { base64url, sha256Bytes } from '../../../src/domain/digest.js';
import { idFromHash } from '../../../src/domain/envelope.js';
import type { NewEvent } from '../../../src/domain/event-store.js';
import { memoryStores } from '../../../src/infra/stores/memory-store.js';
import {
  fixedKeys,
  fixedRandom,
  instrumented,
  kurrentLike,
} from '../../../harness/cases/stores.js';
import { openWorld } from '../../../harness/cases/world.js';

const hashOf = (id: string): string => base64url(sha256Bytes(id));

const event = (id: string): NewEvent => ({
  id: idFromHash(hashOf(id)),
  hash: hashOf(id),
  type: 'T',
  meta: '{}',
  data: '{}',
});

describe('the store doubles', () => {
  it('lose answers while they are told to, and keep what was appended', async () => {
    const answers = { on: true, lost: 0 };
    const { events } = instrumented(memoryStores(), fixedKeys(), answers, new Map());
    const lost = await events.append('s-1', 'none', [event('1')])();
    expect(lost).toMatchObject({ left: { _tag: 'OutcomeUnknown' } });
    const again = await events.append('s-1', 'none', [event('1')])();
    expect(again).toMatchObject({ left: { _tag: 'OutcomeUnknown' } });
    answers.on = false;
    expect(await events.append('s-1', 'none', [event('1')])()).toMatchObject({
      right: { first: 0 },
    });
    expect(answers.lost).toBe(2);
    const page = await events.read({
      stream: 's-1',
      from: 'start',
      direction: 'forwards',
      limit: 9,
      maxBytes: 99,
    })();
    expect(E.isRight(page) && page.right.events.length).toBe(1);
  });

  it('acknowledge ids at their place and write them again at the head', async () => {
    const { events } = kurrentLike(memoryStores());
    expect(await events.append('s-1', 'none', [event('1')])()).toMatchObject({
      right: { last: 0 },
    });
    expect(await events.append('s-1', 'none', [event('1')])()).toMatchObject({
      right: { last: 0 },
    });
    expect(await events.append('s-1', 'none', [event('2')])()).toMatchObject({
      left: { _tag: 'WrongRevision', actual: 0 },
    });
    expect(await events.append('s-1', 0, [event('1')])()).toMatchObject({ right: { last: 1 } });
    expect(await events.append('s-1', 7, [event('3')])()).toMatchObject({
      left: { _tag: 'WrongRevision', actual: 1 },
    });
  });

  it('give the same ids and bytes in every run', async () => {
    const [one, two] = [fixedRandom(), fixedRandom()];
    expect(one(40)).toEqual(two(40));
    expect(one(8)).not.toEqual(two(16).subarray(0, 7));
    const texts = await Promise.all(
      [1, 2].map(async () => {
        const world = await openWorld('memory');
        const branch = await world.engine().start({ id: 'c' });
        await branch.append({ role: 'user', content: 'a' });
        const events = await world.snapshot();
        await world.dispose();
        return JSON.stringify(events);
      }),
    );
    expect(texts[0]).toBe(texts[1]);
  });

  it('keep a file over a restart, and forget what was in memory only', async () => {
    for (const store of ['sqlite', 'memory', 'kurrent-like'] as const) {
      const world = await openWorld(store);
      const branch = await world.engine().start({ id: 'c' });
      await branch.append({ id: 'm1', role: 'user', content: 'a' });
      await world.reopen();
      const again = await world.engine().open('c');
      expect((await again.history()).entries.length).toBe(1);
      expect(await world.closedBytes()).toBeGreaterThan(500);
      await world.dispose();
    }
  });
});
