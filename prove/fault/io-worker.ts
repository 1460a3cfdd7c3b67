// A process with native/io-fail.c before its C library: it works on one store after the other while
// writes and syncs fail, and looks at each of them afterwards. One line of JSON for each.
import fs from 'node:fs';
import path from 'node:path';
import * as E from 'fp-ts/lib/Either.js';
import type { EventStore } from '../../src/domain/event-store.js';
import { isStemmaError } from '../../src/face/stemma-error.js';
import { randomOf, seedOf } from '../support/random.js';
import { acksOf, noteAck, type Ack } from './acks.js';
import { inspect } from './inspect.js';
import { ioControl, type IoCounts, type IoFault } from './io-control.js';
import { readOrders } from './orders.js';
import { doStep, startWork, type Work } from './workload.js';

export interface IoOrders {
  readonly folder: string;
  readonly control: string;
  readonly seed: number;
  readonly faults: readonly IoFault[];
  /** Answers every append as done, whatever the store said: to be noticed. */
  readonly hides: boolean;
}

export interface IoRun extends IoCounts {
  readonly fault: IoFault;
  readonly wrong: readonly string[];
}

const STEPS = 40;
/** Steps after the fault: enough to see what the store does then. */
const STEPS_AFTER = 8;

const orders = readOrders() as IoOrders;
const control = ioControl(orders.control);

/** What an application was told in one run. */
interface Told {
  readonly acks: Map<string, Ack>;
  /** Refused for certain, by id of the last event. */
  readonly refused: Map<string, Ack>;
  readonly wrong: string[];
}

const watched =
  ({ acks, refused, wrong }: Told) =>
  (events: EventStore): EventStore => {
    const { failedSyncs: atOpening } = control.counts();
    return {
      ...events,
      append: (stream, expected, batch) => async () => {
        const isBehindFailedSync = control.counts().failedSyncs > atOpening;
        const answer = await events.append(stream, expected, batch)();
        const revision = (expected === 'none' ? -1 : expected) + batch.length;
        const ack = { stream, revision, id: (batch[batch.length - 1] ?? batch[0]).id };
        if (E.isRight(answer) || orders.hides) noteAck(acks, ack);
        if (E.isRight(answer) && isBehindFailedSync) wrong.push(`accepted: ${stream} ${revision}`);
        // What was unknown once may be there, whatever a later try was answered.
        if (E.isRight(answer) || answer.left._tag === 'OutcomeUnknown') refused.delete(ack.id);
        else if (!unknown.has(ack.id)) refused.set(ack.id, ack);
        if (E.isLeft(answer) && answer.left._tag === 'OutcomeUnknown') unknown.add(ack.id);
        return orders.hides && E.isLeft(answer)
          ? E.right({ first: revision - batch.length + 1, last: revision })
          : answer;
      },
    };
  };

const unknown = new Set<string>();

/** Notes an error that is no fault of the closed union: one of the driver, or a mistake. */
const noteRaw = (wrong: string[], where: string, error: unknown): void => {
  const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
  const isTyped = isStemmaError(error) || text.startsWith('Error: unexpected fault:');
  if (!isTyped) wrong.push(`raw error ${where}: ${text}`);
};

const work = async (application: Work, told: Told): Promise<void> => {
  let after = 0;
  for (let step = 0; step < STEPS && after < STEPS_AFTER; step += 1) {
    const { failedWrites, failedSyncs, failedSyncsElsewhere } = control.counts();
    if (failedWrites + failedSyncs + failedSyncsElsewhere > 0) after += 1;
    try {
      await doStep(application);
    } catch (error) {
      noteRaw(told.wrong, 'at work', error);
    }
  }
  try {
    await application.stemma.close();
  } catch (error) {
    noteRaw(told.wrong, 'closing', error);
  }
};

const runOne = async (fault: IoFault, index: number): Promise<IoRun> => {
  const store = path.join(orders.folder, `store-${index}`);
  const random = randomOf(seedOf(orders.seed, index));
  const told: Told = { acks: new Map(), refused: new Map(), wrong: [] };
  control.arm(fault);
  try {
    const around = watched(told);
    await work(await startWork({ path: store, random, name: 'io', around }), told);
  } catch (error) {
    noteRaw(told.wrong, 'opening', error);
  }
  control.disarm();
  const counts = control.counts();
  const found = await inspect(store, acksOf([], told.acks), { absent: [...told.refused.values()] });
  fs.rmSync(store, { recursive: true, force: true });
  globalThis.gc?.();
  return { ...counts, fault, wrong: [...told.wrong, ...found.wrong] };
};

for (const [index, fault] of orders.faults.entries()) {
  unknown.clear();
  process.stdout.write(`${JSON.stringify(await runOne(fault, index))}\n`);
}
