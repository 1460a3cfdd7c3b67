import path from 'node:path';
import * as E from 'fp-ts/lib/Either.js';
import { describe, expect, it } from 'vitest';
import { coldEngine, runtimeOf } from '../../prove/support/engine.js';
import { randomOf } from '../../prove/support/random.js';
import { openaiChat } from '../../src/domain/profiles/openai-chat.js';
import type { BranchContext } from '../../src/engine/engine-context.js';
import { readSurface } from '../../src/engine/histories.js';
import { append } from '../../src/engine/message-commands.js';
import { request } from '../../src/engine/model-calls.js';
import { beginTool } from '../../src/engine/tool-commands.js';
import type { EngineStores } from '../../src/engine/runtime.js';
import { memoryStores } from '../../src/infra/stores/memory-store.js';
import { sqliteStores } from '../../src/infra/stores/sqlite/sqlite-store.js';
import { mainBranch, right } from '../support/engine.js';
import { tempFolder } from '../support/temp-folder.js';

const stores: readonly (readonly [string, () => Promise<EngineStores>])[] = [
  ['memory', () => Promise.resolve(memoryStores())],
  ['sqlite', () => right(sqliteStores({ path: path.join(tempFolder(), 'store.db') }))],
];

/** Two engines with memories of their own, each on the same branch as another run. */
const two = async (open: () => Promise<EngineStores>): Promise<[BranchContext, BranchContext]> => {
  const runtime = runtimeOf(await open(), randomOf(3));
  const [one, other] = [await coldEngine(runtime), await coldEngine(runtime)];
  return [await mainBranch(one, 'c'), await mainBranch(other, 'c')];
};

const idsOn = async ({ runtime, histories, key }: BranchContext): Promise<readonly string[]> =>
  (await right(readSurface(runtime, histories, key))).items.map(({ message }) => message.id);

describe.each(stores)('two writers at once on %s', (_name, open) => {
  it('OR4 both messages of users are kept, each once and each whole', async () => {
    const [one, other] = await two(open);
    const batch = (on: BranchContext, name: string) =>
      append(on, [
        { id: `${name}1`, role: 'user', content: 'a' },
        { id: `${name}2`, role: 'user', content: 'b' },
      ])();
    const names = Array.from({ length: 12 }, (_item, at) => `b${String(at)}.`);
    const results = await Promise.all(
      names.map((name, at) => batch(at % 2 === 0 ? one : other, name)),
    );
    expect(results.every(E.isRight)).toBe(true);
    const ids = await idsOn(one);
    expect([...ids].sort()).toEqual(names.flatMap((name) => [`${name}1`, `${name}2`]).sort());
    for (const name of names) expect(ids[ids.indexOf(`${name}1`) + 1]).toBe(`${name}2`);
  });

  it('ID2 the same message from two writers is there once', async () => {
    const [one, other] = await two(open);
    const message = { id: 'm', role: 'user', content: 'once' } as const;
    const done = await Promise.all([
      right(append(one, message)),
      right(append(other, message)),
      right(append(one, message)),
    ]);
    expect(done.filter(({ written }) => written.length > 0)).toHaveLength(1);
    expect(await idsOn(other)).toEqual(['m']);
  });

  it('OR4 of two runs that begin a turn at once, one has it', async () => {
    const [one, other] = await two(open);
    await right(append(one, { id: 'u', role: 'user', content: 'go' }));
    const profile = openaiChat({ model: 'gpt' });
    const asked = await Promise.all([request(one, { profile })(), request(other, { profile })()]);
    expect(asked.filter(E.isRight)).toHaveLength(1);
    const [refused] = asked.filter(E.isLeft);
    expect(refused?.left._tag).toBe('TurnOpen');
  });

  it('SE4 of two that start a harmful tool at once, one does', async () => {
    const [one, other] = await two(open);
    await right(
      append(one, [
        { id: 'u', role: 'user', content: 'go' },
        { id: 'a', role: 'assistant', toolCalls: [{ id: 'c', name: 'pay', arguments: '{}' }] },
      ]),
    );
    const call = { messageId: 'a', index: 0 };
    const started = await Promise.all([beginTool(one, call)(), beginTool(other, call)()]);
    expect(started.filter(E.isRight)).toHaveLength(1);
  });
});
