import * as E from 'fp-ts/lib/Either.js';
import { completeImport, startImport } from '../domain/decide/directory.js';
import { deriveUid } from '../domain/digest.js';
import type { StemmaFault } from '../domain/errors.js';
import type { ParentConversation } from '../domain/events/directory-events.js';
import type { Uid } from '../domain/ids.js';
import type {
  ImportedBranch,
  ImportedCompaction,
  ImportedConversation,
  ImportedItem,
  ImportedMessage,
  ImportedRecord,
  ImportPlan,
} from '../domain/import-plan.js';
import type { Recorded } from '../domain/recorded.js';
import { branchStream } from '../domain/stream-name.js';
import { loadBranch } from './branch-loader.js';
import { slotMaker } from './content.js';
import {
  branchesOf,
  conversationUid,
  fork,
  openRoot,
  promote,
  start,
} from './conversation-commands.js';
import {
  actorText,
  left,
  scopeOf,
  type Actor,
  type BranchContext,
  type EngineContext,
} from './engine-context.js';
import { onBranch, onDirectory } from './execute.js';
import { importCompaction } from './import-compaction.js';
import { importItems, recordKey } from './import-items.js';
import { lookUp } from './known-ids.js';
import type { Task } from './runtime.js';

export interface ImportedBranchResult {
  readonly key: string;
  readonly branch: Uid;
  readonly name: string;
}

export interface ImportedConversationResult {
  readonly externalId: string;
  readonly conversation: Uid;
  readonly branches: readonly ImportedBranchResult[];
}

export interface ImportResult {
  readonly conversations: readonly ImportedConversationResult[];
  /** Events written; 0 when everything was known. */
  readonly appended: number;
}

const BATCH_ITEMS = 200;
const BATCH_CHARS = 150_000;

interface Importing {
  readonly context: EngineContext;
  readonly plan: ImportPlan;
  readonly as: Actor;
  /** Called after each batch with the number of items done. */
  readonly onProgress: (done: number) => void;
}

const branchContext = (importing: Importing, conversation: Uid, branch: Uid): BranchContext => ({
  ...importing.context,
  key: { tenant: importing.context.tenant, conversation, branch },
  run: `import-${importing.plan.importId}`,
  as: importing.as,
});

const sizeOf = (item: ImportedItem): number => {
  if (item.kind === 'record') return item.raw.length;
  const message = item.kind === 'message' ? item.message : item.replacement;
  // Blocks and raw hold nearly all of a message; what is left is small beside the limit.
  const blocks = message?.blocks.reduce(
    (sum, block) => sum + ('text' in block ? block.text.length : 200),
    0,
  );
  const spilled = (length: number): number => Math.min(length, 70_000);
  return spilled(blocks ?? 0) + spilled(message?.raw?.text.length ?? 0) + 600;
};

type Plain = ImportedMessage | ImportedRecord;

/** Neighbouring items in batches that stay within one append; a compaction stands alone. */
const batchesOf = (
  items: readonly ImportedItem[],
): readonly (readonly Plain[] | ImportedCompaction)[] => {
  const batches: (readonly Plain[] | ImportedCompaction)[] = [];
  let current: Plain[] = [];
  let chars = 0;
  const flush = (): void => {
    if (current.length > 0) batches.push(current);
    current = [];
    chars = 0;
  };
  for (const item of items) {
    if (item.kind === 'compaction') {
      flush();
      batches.push(item);
      continue;
    }
    const size = sizeOf(item);
    if (current.length >= BATCH_ITEMS || (current.length > 0 && chars + size > BATCH_CHARS))
      flush();
    current.push(item);
    chars += size;
  }
  flush();
  return batches;
};

const appendPlain = async (
  importing: Importing,
  context: BranchContext,
  items: readonly Plain[],
): Promise<E.Either<StemmaFault, number>> => {
  const { runtime, states, key } = context;
  const slots = slotMaker(runtime, key.conversation);
  const command = importItems({
    scope: scopeOf(context),
    importId: importing.plan.importId,
    system: importing.plan.format,
    items,
    make: slots.make,
  });
  const given = { actor: actorText(importing.as), run: context.run, slots };
  const done = await onBranch(runtime, states, key, command, given)();
  return E.isLeft(done) ? done : E.right(done.right.written.length);
};

const fillBranch = async (
  importing: Importing,
  context: BranchContext,
  branch: ImportedBranch,
): Promise<E.Either<StemmaFault, number>> => {
  let appended = 0;
  for (const batch of batchesOf(branch.items)) {
    const result =
      'kind' in batch
        ? await importCompaction(importing.plan.format, context, batch)
        : await appendPlain(importing, context, batch);
    if (E.isLeft(result)) return result;
    appended += result.right;
    importing.onProgress('kind' in batch ? 1 : batch.length);
  }
  return E.right(appended);
};

/** Where the item of a foreign record stands on a branch's lineage. */
const placeOfRecord = async (
  importing: Importing,
  context: BranchContext,
  record: string,
): Promise<E.Either<StemmaFault, Recorded>> => {
  const { runtime, states, key } = context;
  const loaded = await loadBranch(runtime, states, key)();
  if (E.isLeft(loaded)) return loaded;
  const ref = recordKey(importing.plan.format, record);
  const facts = await lookUp(runtime, key.conversation, loaded.right.lineage, [ref])();
  if (E.isLeft(facts)) return facts;
  const found = facts.right.of('record', ref.id).at(-1);
  return found === undefined
    ? left({ _tag: 'DanglingParent', ids: [record], missing: [record] })
    : E.right(found);
};

const branchUid = (importing: Importing, conversation: Uid, key: string): Uid =>
  deriveUid(importing.context.secret, 'branch', `${conversation} import ${key}`);

const openForeignBranch = async (
  importing: Importing,
  conversation: Uid,
  branches: ReadonlyMap<string, Uid>,
  branch: ImportedBranch,
): Promise<E.Either<StemmaFault, { readonly uid: Uid; readonly created: boolean }>> => {
  const { context } = importing;
  const uid = branchUid(importing, conversation, branch.key);
  const loaded = await loadBranch(context.runtime, context.states, {
    tenant: context.tenant,
    conversation,
    branch: uid,
  })();
  if (E.isLeft(loaded)) return loaded;
  if (loaded.right.state.head >= 0) return E.right({ uid, created: false });
  const { name, reason, parent } = branch;
  if (parent === undefined) {
    const own = branchContext(importing, conversation, uid);
    const opened = await openRoot(own, { uid, name, reason })();
    return E.isLeft(opened) ? opened : E.right({ uid, created: true });
  }
  const parentUid = branches.get(parent.key);
  if (parentUid === undefined) {
    return left({ _tag: 'DanglingParent', ids: [branch.key], missing: [parent.key] });
  }
  const parentContext = branchContext(importing, conversation, parentUid);
  const place = await placeOfRecord(importing, parentContext, parent.record);
  if (E.isLeft(place)) return place;
  const at = { branch: place.right.meta.branch as Uid, revision: place.right.revision };
  const forked = await fork(parentContext, at, { uid, name, reason })();
  return E.isLeft(forked) ? forked : E.right({ uid, created: true });
};

/** Where in an earlier conversation of the source this one was begun; unknown: none. */
const parentOf = async (
  { context, plan }: Importing,
  { parent }: ImportedConversation,
): Promise<ParentConversation | undefined> => {
  if (parent === undefined) return undefined;
  const conversation = conversationUid(context, `${plan.format}:${parent.externalId}`);
  const directory = await branchesOf(context, conversation)();
  if (E.isLeft(directory) || directory.right.main === undefined) return undefined;
  const streams = [...directory.right.branches.keys()].map((branch) => ({
    stream: branchStream(context.tenant, conversation, branch),
    upTo: Number.MAX_SAFE_INTEGER,
  }));
  const { messageId, relation } = parent;
  const refs = messageId === undefined ? [] : [{ kind: 'message', id: messageId } as const];
  const facts = await lookUp(context.runtime, conversation, streams, refs)();
  const place =
    messageId !== undefined && E.isRight(facts)
      ? facts.right.of('message', messageId)[0]
      : undefined;
  if (place === undefined) return undefined;
  const { revision, hash, meta } = place;
  return {
    conversation,
    branch: meta.branch as Uid,
    revision,
    hash,
    ...(messageId === undefined ? {} : { messageId }),
    relation,
  };
};

const importConversation = async (
  importing: Importing,
  source: ImportedConversation,
): Promise<E.Either<StemmaFault, ImportedConversationResult & { readonly appended: number }>> => {
  const { context, plan, as } = importing;
  const { runtime, states, tenant } = context;
  const parent = await parentOf(importing, source);
  const started = await start(context, {
    id: `${plan.format}:${source.externalId}`,
    ...(parent === undefined ? {} : { parent }),
    ...(source.title === undefined ? {} : { title: source.title }),
    labels: {
      source: plan.format,
      ...(source.parent === undefined ? {} : { relation: source.parent.relation }),
    },
    as,
  })();
  if (E.isLeft(started)) return started;
  const { conversation, main } = started.right;
  const key = { tenant, conversation };
  const by = { actor: actorText(as) };
  const command = { id: `import ${plan.importId}`, digest: plan.digest };
  const begun = await onDirectory(
    runtime,
    states,
    key,
    startImport({ import: plan.importId, format: plan.format, digest: plan.digest }),
    { ...by, command },
  )();
  if (E.isLeft(begun)) return begun;
  const uids = new Map<string, Uid>();
  const results: ImportedBranchResult[] = [];
  let appended = 0;
  for (const [index, branch] of source.branches.entries()) {
    const opened =
      index === 0
        ? E.right({ uid: main, created: false })
        : await openForeignBranch(importing, conversation, uids, branch);
    if (E.isLeft(opened)) return opened;
    const { uid, created } = opened.right;
    uids.set(branch.key, uid);
    results.push({ key: branch.key, branch: uid, name: branch.name });
    const filled = await fillBranch(importing, branchContext(importing, conversation, uid), branch);
    if (E.isLeft(filled)) return filled;
    appended += filled.right + (created ? 1 : 0);
  }
  const finished = await finish(importing, source, conversation, uids);
  if (E.isLeft(finished)) return finished;
  const first = started.right.created ? 3 : 0;
  const { externalId } = source;
  const total = appended + first + finished.right + (begun.right.replayed ? 0 : 1);
  return E.right({ externalId, conversation, branches: results, appended: total });
};

const finish = async (
  importing: Importing,
  source: ImportedConversation,
  conversation: Uid,
  uids: ReadonlyMap<string, Uid>,
): Promise<E.Either<StemmaFault, number>> => {
  const { context, plan, as } = importing;
  const key = { tenant: context.tenant, conversation };
  const active = source.branches.find((branch) => branch.active === true);
  const uid = active && uids.get(active.key);
  let written = 0;
  if (uid !== undefined && source.branches.length > 1) {
    const promoted = await promote(branchContext(importing, conversation, uid))();
    if (E.isLeft(promoted)) return promoted;
    written += promoted.right.written.length;
  }
  const items = source.branches.flatMap((branch) => branch.items);
  const done = await onDirectory(
    context.runtime,
    context.states,
    key,
    completeImport({
      import: plan.importId,
      messages: items.filter(({ kind }) => kind === 'message').length,
      records: items.filter(({ kind }) => kind === 'record').length,
      branches: source.branches.length,
    }),
    { actor: actorText(as) },
  )();
  return E.isLeft(done) ? done : E.right(written + done.right.written.length);
};

/**
 * Takes a decided plan in. Repeatable: what is known is not written again, an import that broke off
 * is completed, and a longer version of the same source adds only the rest.
 */
export const runImport =
  (
    context: EngineContext,
    plan: ImportPlan,
    onProgress: (done: number) => void = () => undefined,
  ): Task<ImportResult> =>
  async () => {
    const as: Actor = { kind: 'importer', id: plan.format };
    const importing: Importing = { context, plan, as, onProgress };
    const conversations: ImportedConversationResult[] = [];
    let appended = 0;
    for (const source of plan.conversations) {
      const result = await importConversation(importing, source);
      if (E.isLeft(result)) return result;
      const { appended: added, ...rest } = result.right;
      conversations.push(rest);
      appended += added;
    }
    return E.right({ conversations, appended });
  };
