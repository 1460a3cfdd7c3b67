import * as E from 'fp-ts/lib/Either.js';
import type { EngineContext } from '../../src/engine/engine-context.js';
import { verifyConversation } from '../../src/engine/verification.js';
import { isStemmaError } from '../../src/face/stemma-error.js';
import { stemmaFace } from '../../src/face/stemma-face.js';
import { openEngine } from '../../src/open.js';
import type { Ack, Acks } from './acks.js';

/** What a store is like that was opened after a fault. */
export interface Inspection {
  /** What does not hold of what was promised; empty when all is well. */
  readonly wrong: readonly string[];
  readonly openMs: number;
  readonly events: number;
}

const AMPLE_BYTES = 4_000_000;

/** Hashes, chains and whole batches of every stream, as the product itself checks them. */
const verified = async (
  engine: EngineContext,
): Promise<{ readonly wrong: readonly string[]; readonly events: number }> => {
  const found = await verifyConversation(engine)();
  if (E.isLeft(found)) return { wrong: [`verify: ${JSON.stringify(found.left)}`], events: 0 };
  const { faults, events } = found.right;
  return { wrong: faults.map((fault) => `verify: ${JSON.stringify(fault)}`), events };
};

/** The id at this place; or the fault, or `undefined`, as text. */
const idAt = async ({ runtime }: EngineContext, { stream, revision }: Ack): Promise<string> => {
  const page = await runtime.events.read({
    stream,
    from: revision,
    direction: 'forwards',
    limit: 1,
    maxBytes: AMPLE_BYTES,
  })();
  return E.isLeft(page) ? JSON.stringify(page.left) : String(page.right.events[0]?.id);
};

const lost = async (engine: EngineContext, acks: Acks): Promise<readonly string[]> => {
  const wrong: string[] = [];
  for (const ack of acks.values()) {
    const found = await idAt(engine, ack);
    if (found !== ack.id) wrong.push(`lost: ${ack.stream} ${ack.revision}: ${found}`);
  }
  return wrong;
};

const stored = async (
  engine: EngineContext,
  refused: readonly Ack[],
): Promise<readonly string[]> => {
  const wrong: string[] = [];
  for (const ack of refused) {
    const found = await idAt(engine, ack);
    if (found === ack.id) wrong.push(`stored: ${ack.stream} ${ack.revision}, although refused`);
  }
  return wrong;
};

/** A store that was damaged and not noticed shows itself at the latest when it is written again. */
const goesOn = async (engine: EngineContext): Promise<readonly string[]> => {
  const stemma = stemmaFace(engine, { kind: 'app' });
  try {
    const branch = await stemma.start({ id: 'c0', title: 'later' });
    await branch.append({ role: 'user', content: 'goes on' });
    return [];
  } catch (error) {
    if (isStemmaError(error)) return [`refuses: ${error._tag}`];
    return [`refuses: ${String(error)}`];
  }
};

export interface InspectOptions {
  /** False: only what was acknowledged is looked for, and not all events are checked. */
  readonly isWhole?: boolean;
  /** What was refused for certain, and so must not be there. */
  readonly absent?: readonly Ack[];
  /** Opens, read-only, what is left of a store without its log. */
  readonly salvage?: boolean;
}

const look = async (
  store: string,
  acks: Acks,
  { isWhole = true, absent = [], salvage = false }: InspectOptions,
): Promise<Inspection> => {
  const began = performance.now();
  const opened = await openEngine({ store, ...(salvage ? { salvage } : {}) })();
  const openMs = performance.now() - began;
  if (E.isLeft(opened)) {
    return { wrong: [`not opened: ${JSON.stringify(opened.left)}`], openMs, events: 0 };
  }
  const engine = opened.right;
  const { wrong, events } = isWhole ? await verified(engine) : { wrong: [], events: 0 };
  const all = [
    ...wrong,
    ...(await lost(engine, acks)),
    ...(await stored(engine, absent)),
    ...(salvage ? [] : await goesOn(engine)),
  ];
  const closed = await engine.runtime.events.close()();
  if (E.isLeft(closed)) all.push(`not closed: ${JSON.stringify(closed.left)}`);
  return { wrong: all, openMs, events };
};

/** Opens a store through the product and looks whether all holds that was promised. */
export const inspect = async (
  store: string,
  acks: Acks,
  options: InspectOptions = {},
): Promise<Inspection> => {
  try {
    return await look(store, acks, options);
  } catch (error) {
    const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
    return { wrong: [`raw error: ${text}`], openMs: 0, events: 0 };
  }
};
