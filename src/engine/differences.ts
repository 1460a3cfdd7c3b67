import * as E from 'fp-ts/lib/Either.js';
import type { EventRef } from '../domain/events/references.js';
import type { Uid } from '../domain/ids.js';
import { contentDigest, type Message } from '../domain/message.js';
import { findCall } from './call-lookup.js';
import { left, type EngineContext } from './engine-context.js';
import { forkPoints, readSurface } from './histories.js';
import { projectBranch, resolve } from './queries.js';
import { rebuildCall, type RecordedContext } from './recorded-context.js';
import { timeline } from '../projections/timeline.js';
import type { BranchKey, Task } from './runtime.js';

export interface DiffOptions {
  /** `messages`: histories; `context`: what two calls were sent, and why; `payload`: the exact bytes; `events`: the logs. */
  readonly of?: 'messages' | 'context' | 'payload' | 'events';
}

/** One side of a difference. */
export interface DiffSide {
  readonly ref: string;
  readonly conversation: string;
  readonly branch: string;
  readonly branchName: string;
  readonly modelCallId?: string;
  readonly tokens?: number;
  readonly digest?: string;
}

/** An entry that both sides have, with other content. */
export interface Changed {
  readonly id: string;
  readonly a: string;
  readonly b: string;
}

export interface Difference {
  readonly of: NonNullable<DiffOptions['of']>;
  readonly a: DiffSide;
  readonly b: DiffSide;
  /** Last event that both lineages share. */
  readonly ancestor?: Pick<EventRef, 'branch' | 'revision'>;
  readonly same: readonly string[];
  readonly changed: readonly Changed[];
  readonly onlyA: readonly string[];
  readonly onlyB: readonly string[];
  readonly equal: boolean;
}

/** An item of a side: its id and a text that is equal only for equal content. */
interface Item {
  readonly id: string;
  readonly content: string;
}

interface Side {
  readonly side: DiffSide;
  readonly key: BranchKey;
  /** How far the side reads on its own branch. */
  readonly revision: number;
  readonly items: readonly Item[];
}

const messageItem = (message: Message): Item => ({
  id: message.id,
  content: contentDigest(message),
});

const payloadItems = (context: RecordedContext): readonly Item[] =>
  context.plan.layout.map(({ path, ids }, index) => ({
    id: ids[0] ?? `#${String(index)}`,
    content: JSON.stringify(at(context.plan.body, path)),
  }));

const at = (body: unknown, path: readonly (string | number)[]): unknown =>
  path.reduce<unknown>(
    (value, key) =>
      typeof value === 'object' && value !== null
        ? (value as Readonly<Record<string | number, unknown>>)[key]
        : undefined,
    body,
  );

const contextItems = (context: RecordedContext): readonly Item[] => {
  const digests = new Map(
    context.plan.dispositions.map((entry) => [entry.messageId, entry.disposition]),
  );
  return context.plan.sent.map((id) => ({ id, content: digests.get(id) ?? '' }));
};

const ofCall =
  (context: EngineContext, ref: string, of: 'context' | 'payload'): Task<Side> =>
  async () => {
    const id = ref.startsWith('c:') ? ref.slice(2) : ref;
    const found = await findCall(context, id)();
    if (E.isLeft(found)) return found;
    const recorded = await rebuildCall(context, found.right)();
    if (E.isLeft(recorded)) return recorded;
    const { plan, conversation, branch, branchName, requested } = recorded.right;
    return E.right({
      side: {
        ref,
        conversation,
        branch,
        branchName,
        modelCallId: id,
        tokens: plan.tokens,
        digest: requested.requestDigest,
      },
      key: found.right.key,
      revision: requested.branchRevision,
      items: of === 'context' ? contextItems(recorded.right) : payloadItems(recorded.right),
    });
  };

/** The newest call made on the branch itself, for a reference that names a branch and not a call. */
const ofBranch =
  (context: EngineContext, ref: string, of: NonNullable<DiffOptions['of']>): Task<Side> =>
  async () => {
    const found = await resolve(context, ref)();
    if (E.isLeft(found)) return found;
    const { conversation, entry, point } = found.right;
    const key = { tenant: context.tenant, conversation, branch: entry.branch };
    const items = await projectBranch(context, key, timeline, point)();
    if (E.isLeft(items)) return items;
    if (of === 'context' || of === 'payload') {
      const last = items.right.items.findLast((item) => item.type === 'ModelCallRequested');
      const id = last?.subjects.find(({ kind }) => kind === 'model_call')?.id;
      if (id === undefined) return left({ _tag: 'NotFound', kind: 'call', ref });
      return ofCall(context, id, of)();
    }
    const side = { ref, conversation, branch: entry.branch, branchName: entry.name };
    const revision = point.revision ?? Number.MAX_SAFE_INTEGER;
    if (of === 'events') {
      const events = items.right.items.map(({ place, type }) => ({
        id: `${place.branch}@${String(place.revision)}`,
        content: `${type} ${place.hash}`,
      }));
      return E.right({ side, key, revision, items: events });
    }
    const surface = await readSurface(context.runtime, context.histories, key, point)();
    if (E.isLeft(surface)) return surface;
    const messages = surface.right.items.map(({ message }) => messageItem(message));
    return E.right({ side, key, revision, items: messages });
  };

const sideOf =
  (context: EngineContext, ref: string, of: NonNullable<DiffOptions['of']>): Task<Side> =>
  async () => {
    const isCall = of === 'context' || of === 'payload';
    if (isCall && ref.startsWith('c:')) return ofCall(context, ref, of)();
    const byCall = isCall ? await ofCall(context, ref, of)() : undefined;
    return byCall !== undefined && E.isRight(byCall) ? byCall : ofBranch(context, ref, of)();
  };

/** Parts of a lineage from the root down, each with how far it is seen. */
const partsOf =
  (context: EngineContext, side: Side): Task<readonly Pick<EventRef, 'branch' | 'revision'>[]> =>
  async () => {
    const points = await forkPoints(context.runtime, side.key)();
    return E.isLeft(points)
      ? points
      : E.right([...points.right, { branch: side.key.branch, revision: side.revision }]);
  };

const ancestorOf = async (
  context: EngineContext,
  a: Side,
  b: Side,
): Promise<{ branch: Uid; revision: number } | undefined> => {
  if (a.key.conversation !== b.key.conversation) return undefined;
  const [left_, right_] = [await partsOf(context, a)(), await partsOf(context, b)()];
  if (E.isLeft(left_) || E.isLeft(right_)) return undefined;
  let shared: { branch: Uid; revision: number } | undefined;
  for (const [index, part] of left_.right.entries()) {
    const other = right_.right[index];
    if (other?.branch !== part.branch) break;
    shared = { branch: part.branch, revision: Math.min(part.revision, other.revision) };
    if (part.revision !== other.revision) break;
  }
  return shared;
};

const compare = (a: readonly Item[], b: readonly Item[]) => {
  const inB = new Map(b.map(({ id, content }) => [id, content]));
  const inA = new Set(a.map(({ id }) => id));
  const same: string[] = [];
  const changed: Changed[] = [];
  const onlyA: string[] = [];
  for (const { id, content } of a) {
    const other = inB.get(id);
    if (other === undefined) onlyA.push(id);
    else if (other === content) same.push(id);
    else changed.push({ id, a: content, b: other });
  }
  const onlyB = b.filter(({ id }) => !inA.has(id)).map(({ id }) => id);
  return { same, changed, onlyA, onlyB };
};

/** Compares two branches or two calls, by message id. Reads only. */
export const diff =
  (
    context: EngineContext,
    first: string,
    second: string,
    options: DiffOptions = {},
  ): Task<Difference> =>
  async () => {
    const { of = 'messages' } = options;
    const a = await sideOf(context, first, of)();
    if (E.isLeft(a)) return a;
    const b = await sideOf(context, second, of)();
    if (E.isLeft(b)) return b;
    const ancestor = await ancestorOf(context, a.right, b.right);
    const compared = compare(a.right.items, b.right.items);
    const { changed, onlyA, onlyB } = compared;
    return E.right({
      of,
      a: a.right.side,
      b: b.right.side,
      ...(ancestor === undefined ? {} : { ancestor }),
      ...compared,
      equal: changed.length + onlyA.length + onlyB.length === 0,
    });
  };
