import type {
  ImportedConversation,
  ImportedItem,
  ImportPlan,
} from '../../../src/domain/import-plan.js';
import type { Message } from '../../../src/domain/message.js';
import type {
  View,
  ViewBranch,
  ViewConversation,
  ViewExchange,
  ViewItem,
  ViewMessage,
} from '../../../harness/data/view.js';

interface OpenCall {
  readonly messageId: string;
  readonly index: number;
  readonly callId: string;
  isAnswered: boolean;
}

const viewMessage = (place: string, message: Message, answers: readonly string[]): ViewMessage => ({
  kind: 'message',
  place,
  id: message.id,
  role: message.role,
  ...(message.name === undefined ? {} : { name: message.name }),
  blocks: message.blocks,
  toolCalls: message.toolCalls,
  answers,
  ...(message.partOf === undefined ? {} : { partOf: message.partOf }),
  ...(message.provenance.sourceId === undefined ? {} : { sourceId: message.provenance.sourceId }),
  ...(message.metadata === undefined ? {} : { metadata: message.metadata }),
  status: message.status,
});

interface Seen {
  readonly place: string;
  readonly item: ImportedItem;
}

const fold = (seen: readonly Seen[]): Pick<ViewBranch, 'items' | 'exchanges' | 'orphans'> => {
  const calls: OpenCall[] = [];
  const orphans: string[] = [];
  const items: ViewItem[] = [];
  const coveredBy = new Map<string, string>();
  const hidden = new Set<string>();
  for (const { item } of seen) {
    if (item.kind !== 'compaction') continue;
    for (const record of item.covers) {
      coveredBy.set(record, item.record);
      hidden.add(record);
    }
  }
  for (const { place, item } of seen) {
    if (item.kind === 'record') {
      items.push({ kind: 'record', place, key: item.record, recordKind: item.recordKind });
    } else if (item.kind === 'compaction') {
      const { replacement, strategy, record } = item;
      items.push({
        kind: 'compaction',
        place,
        strategy,
        isLive: !hidden.has(record),
        ...(replacement === undefined ? {} : { replacement: viewMessage(place, replacement, []) }),
      });
    } else {
      const { message } = item;
      const open = item.answersCallIds.flatMap(
        (id) => calls.findLast((call) => call.callId === id && !call.isAnswered) ?? [],
      );
      for (const call of open) call.isAnswered = true;
      if (message.role === 'tool' && open.length === 0) orphans.push(message.id);
      const by = coveredBy.get(item.record);
      const shown = viewMessage(
        place,
        message,
        open.map(({ callId }) => callId),
      );
      items.push(by === undefined ? shown : { ...shown, coveredBy: by });
      message.toolCalls.forEach(({ id }, index) =>
        calls.push({ messageId: message.id, index, callId: id, isAnswered: false }),
      );
    }
  }
  const exchanges: readonly ViewExchange[] = calls;
  return { items, exchanges, orphans };
};

const viewConversation = (source: ImportedConversation): ViewConversation => {
  const seenBy = new Map<string, readonly Seen[]>();
  const branches = source.branches.map((branch): ViewBranch => {
    const above = branch.parent === undefined ? [] : (seenBy.get(branch.parent.key) ?? []);
    const end = above.findIndex(({ item }) => item.record === branch.parent?.record);
    const own = branch.items.map((item, at) => ({ place: `${branch.key}@${String(at)}`, item }));
    const seen = [...above.slice(0, end + 1), ...own];
    seenBy.set(branch.key, seen);
    const parent = above[end]?.place;
    return {
      uid: branch.key,
      name: branch.name,
      ...(parent === undefined ? {} : { parent }),
      ...fold(seen),
    };
  });
  const active = source.branches.find((branch) => branch.active === true);
  return {
    uid: source.externalId,
    ...(source.parent === undefined ? {} : { relation: source.parent.relation }),
    branches,
    active: active?.key ?? branches[0]?.uid ?? '',
  };
};

/** What a store would give back after the plan was taken in, folded in memory. */
export const foldPlan = (plan: ImportPlan): View => ({
  conversations: plan.conversations.map(viewConversation),
});
