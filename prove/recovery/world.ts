import fs from 'node:fs';
import path from 'node:path';
import * as E from 'fp-ts/lib/Either.js';
import { openaiChat } from '../../src/domain/profiles/openai-chat.js';
import type { EventStore } from '../../src/domain/event-store.js';
import type { EngineStores } from '../../src/engine/runtime.js';
import type { Branch } from '../../src/face/branch-face.js';
import type { ModelCall } from '../../src/face/model-call-face.js';
import type { Stemma } from '../../src/face/stemma-face.js';
import type { Toolbox } from '../../src/face/toolbox.js';
import type { Effect } from '../../src/domain/events/message-events.js';
import type { OpenAIChatBody } from '../../src/domain/profiles/openai-chat-wire.js';

/** What a child is to do, and where it is to die. */
export interface Orders {
  readonly row: string;
  readonly folder: string;
  /** Dies behind this append after the fuse was lit; 0: it waits to be killed. */
  readonly killAfter: number;
  /** The reply of this append (from the start) is lost: the store has it, the caller is not told. */
  readonly loseReplyOf: number;
  /** Whether the append whose reply is lost is not even stored. */
  readonly loseRequest: boolean;
  readonly effect: Effect;
  readonly variant: number;
}

export const PROFILE = openaiChat({ model: 'gpt' });
export const RUN = 'child';
export const FUTURE = '2099-01-01T00:00:00.000Z';
export const PAST = '2020-01-01T00:00:00.000Z';

/** Lines that tools leave behind: one for each time that one of them really ran. */
export const runsFile = (folder: string): string => path.join(folder, 'runs.txt');

export const toolRuns = (folder: string): readonly string[] => {
  const file = runsFile(folder);
  if (!fs.existsSync(file)) return [];
  return fs
    .readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => line !== '');
};

/** A tool that leaves a line behind each time that it runs. */
export const toolbox = (
  folder: string,
  effect: Effect,
  afterwards: () => void = () => undefined,
): Toolbox => ({
  pay: {
    effect,
    run: (_args, { idempotencyKey, attempt }) => {
      fs.appendFileSync(runsFile(folder), `${idempotencyKey} ${attempt}\n`);
      afterwards();
      return 'paid';
    },
  },
});

/** Ends this process at once, with nothing flushed and nothing closed. */
export const dieNow = (): void => {
  process.kill(process.pid, 'SIGKILL');
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
};

/** A fuse: lit, the process dies behind the append of that number. */
export interface Fuse {
  readonly light: () => void;
  readonly onAppend: () => void;
}

export const fuseOf = (killAfter: number): Fuse => {
  let left = Number.POSITIVE_INFINITY;
  return {
    light: () => {
      if (killAfter > 0) left = killAfter;
    },
    onAppend: () => {
      left -= 1;
      if (left === 0) dieNow();
    },
  };
};

/** The store, but that appends end the process or lose their reply. */
export const faultyStore = (
  events: EventStore,
  { loseReplyOf, loseRequest }: Pick<Orders, 'loseReplyOf' | 'loseRequest'>,
  fuse: Fuse,
  onLost: () => void,
): EventStore => {
  let appends = 0;
  return {
    ...events,
    append: (stream, expected, batch) => async () => {
      appends += 1;
      const isLost = appends === loseReplyOf;
      const unknown = { _tag: 'OutcomeUnknown', stream, expected, ids: batch.map(({ id }) => id) };
      if (isLost) onLost();
      if (isLost && loseRequest) return E.left(unknown as never);
      const appended = await events.append(stream, expected, batch)();
      if (E.isRight(appended)) fuse.onAppend();
      return isLost && E.isRight(appended) ? E.left(unknown as never) : appended;
    },
  };
};

export const withEvents = (stores: EngineStores, events: EventStore): EngineStores => ({
  ...stores,
  events,
});

/** What a script works with. */
export interface Stage {
  readonly orders: Orders;
  readonly stemma: Stemma;
  readonly fuse: Fuse;
  /** Tells the parent that something was acknowledged. */
  readonly ack: (label: string) => void;
}

export const callsOf = (...ids: readonly string[]) =>
  ids.map((id) => ({ id, name: 'pay', arguments: '{"sum":8812}' }));

export const startMain = async ({ stemma }: Pick<Stage, 'stemma'>, run = RUN): Promise<Branch> => {
  const main = await stemma.start({ id: 'c', run });
  await main.append({ id: 'u1', role: 'user', content: 'refund order 8812' });
  return main;
};

/** A call of the model that is answered with calls of tools. */
export const callTools = async (
  main: Branch,
  ...ids: readonly string[]
): Promise<ModelCall<OpenAIChatBody>> => {
  const call = await main.request({ profile: PROFILE });
  await call.complete({ id: 'a1', blocks: [], toolCalls: callsOf(...ids) });
  return call;
};
