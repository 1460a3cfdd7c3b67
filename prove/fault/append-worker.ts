// A process that appends to a store which others append to as well. One line for each event that it
// was acknowledged, one of JSON at its end.
import fs from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import * as E from 'fp-ts/lib/Either.js';
import type { EventStore } from '../../src/domain/event-store.js';
import { sqliteStores } from '../../src/infra/stores/sqlite/sqlite-store.js';
import { value } from '../support/engine.js';
import { randomOf } from '../support/random.js';
import { ackLine } from './acks.js';
import { expectedOf, newChain, nextBatch, storedChain, type Chain } from './chain.js';
import { readOrders } from './orders.js';

export interface AppendOrders {
  readonly store: string;
  readonly name: string;
  readonly kind: 'branch' | 'conversation';
  readonly seed: number;
  /** Appends that are to succeed; it may be killed long before. */
  readonly appends: number;
  /** Percent of them that go to a stream which the others want too. */
  readonly contended: number;
  readonly mostEvents: number;
  /** At most so long between two appends. */
  readonly pauseMs: number;
  /** Takes every append for done, whatever it was answered: to be noticed. */
  readonly hides: boolean;
  /** Acknowledgements that are gathered before they are told: a telling is a call of the system. */
  readonly linesAtOnce: number;
}

export interface AppendReport {
  readonly refused: Readonly<Record<string, number>>;
  /** Errors that were thrown, not answered. */
  readonly raw: readonly string[];
}

const SHARED = ['shared-a', 'shared-b'] as const;

const orders = readOrders() as AppendOrders;
const random = randomOf(orders.seed);
const refused: Record<string, number> = {};
const raw: string[] = [];

/** Lines are gathered, since each write is a call of the system; a kill may lose some of them. */
let lines: string[] = [];
const flush = (): void => {
  if (lines.length > 0) fs.writeSync(1, `${lines.join('\n')}\n`);
  lines = [];
};

/** The chain with the next events in it; as it was when they were refused. */
const tryAppend = async (events: EventStore, chain: Chain): Promise<Chain> => {
  const count = 1 + random.below(orders.mostEvents);
  const { batch, chain: grown } = nextBatch(chain, count, orders.name);
  try {
    const answer = await events.append(chain.stream, expectedOf(chain), batch)();
    if (E.isLeft(answer)) refused[answer.left._tag] = (refused[answer.left._tag] ?? 0) + 1;
    if (E.isLeft(answer) && !orders.hides) return chain;
    for (const [index, { id }] of batch.entries()) {
      lines.push(ackLine({ stream: chain.stream, revision: chain.revision + 1 + index, id }));
    }
    return grown;
  } catch (error) {
    raw.push(error instanceof Error ? (error.stack ?? error.message) : String(error));
    return chain;
  }
};

const stores = await value(sqliteStores({ path: orders.store }));
const { events } = stores;
let own = await storedChain(events, newChain(orders.name, orders.kind));
fs.writeSync(1, 'open\n');
for (let done = 0; done < orders.appends;) {
  const isShared = random.chance(orders.contended);
  const chain = isShared ? await storedChain(events, newChain(random.pick([...SHARED]))) : own;
  const grown = await tryAppend(events, chain);
  if (!isShared) own = grown;
  if (grown !== chain) done += 1;
  if (lines.length >= orders.linesAtOnce) flush();
  if (orders.pauseMs > 0) await delay(random.below(orders.pauseMs + 1));
}
flush();
await value(events.close());
const report: AppendReport = { refused, raw };
fs.writeSync(1, `${JSON.stringify(report)}\n`);
