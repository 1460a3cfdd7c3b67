import type { MessageEntry } from '../../src/projections/history.js';
import type { StoredMessage } from '../../src/domain/events/message-events.js';
import type { SurfaceItem } from '../../src/domain/surface.js';
import type { Branch, Stemma } from '../../src/index.js';
import type {
  View,
  ViewBranch,
  ViewConversation,
  ViewExchange,
  ViewItem,
  ViewMessage,
} from './view.js';

interface Place {
  readonly branch: string;
  readonly revision: number;
}

const placeName = ({ branch, revision }: Place): string => `${branch}@${String(revision)}`;

interface Placed {
  readonly sequence: number;
  readonly item: ViewItem;
}

const viewMessage = (entry: MessageEntry, item: SurfaceItem | undefined): ViewMessage => {
  const { message } = entry;
  const content = item?.message;
  const { name, partOf, provenance } = message;
  return {
    kind: 'message',
    place: placeName(entry.place),
    id: message.id,
    role: message.role,
    ...(name === undefined ? {} : { name }),
    blocks: content?.blocks ?? [],
    toolCalls: content?.toolCalls ?? [],
    answers: entry.calls.map(({ callId }) => callId),
    ...(content?.foreignCallId === undefined ? {} : { foreignCallId: content.foreignCallId }),
    ...(partOf === undefined ? {} : { partOf }),
    ...(provenance.sourceId === undefined ? {} : { sourceId: provenance.sourceId }),
    ...(content?.metadata === undefined ? {} : { metadata: content.metadata }),
    status: entry.status,
    ...(entry.coveredBy === undefined ? {} : { coveredBy: entry.coveredBy }),
  };
};

const viewReplacement = (place: string, stored: StoredMessage): ViewMessage => ({
  kind: 'message',
  place,
  id: stored.id,
  role: stored.role,
  blocks: [],
  toolCalls: [],
  answers: [],
  ...(stored.provenance.sourceId === undefined ? {} : { sourceId: stored.provenance.sourceId }),
  status: stored.status,
});

const messagesOf = async (branch: Branch): Promise<readonly Placed[]> => {
  const [history, surface] = [await branch.history(), await branch.surface()];
  const byId = new Map(surface.items.map((item) => [item.message.id, item] as const));
  const entries = history.entries.flatMap((entry): readonly Placed[] =>
    entry.kind === 'instructions'
      ? []
      : [{ sequence: entry.sequence, item: viewMessage(entry, byId.get(entry.message.id)) }],
  );
  const compactions = history.compactions.map(({ sequence, place, data, state }): Placed => {
    const at = placeName(place);
    const { replacement, strategy } = data;
    const shown =
      replacement === undefined ? {} : { replacement: viewReplacement(at, replacement) };
    const item = { kind: 'compaction', place: at, strategy, isLive: state === 'live' } as const;
    return { sequence, item: { ...item, ...shown } };
  });
  return [...entries, ...compactions];
};

const recordsOf = async (branch: Branch): Promise<readonly Placed[]> => {
  const { items } = await branch.timeline();
  return items.flatMap(({ type, sequence, place, subjects, facts }): readonly Placed[] => {
    if (type !== 'SourceRecordImported') return [];
    const key = subjects.find(({ kind }) => kind === 'record')?.id ?? '';
    const recordKind = String(facts['kind'] ?? '');
    return [{ sequence, item: { kind: 'record', place: placeName(place), key, recordKind } }];
  });
};

const exchangesOf = async (
  branch: Branch,
): Promise<{
  readonly exchanges: readonly ViewExchange[];
  readonly orphans: readonly string[];
}> => {
  const { exchanges, orphans } = await branch.toolExchanges();
  return {
    exchanges: exchanges.map(({ messageId, index, callId, answers }) => ({
      messageId,
      index,
      callId,
      isAnswered: answers.length > 0,
    })),
    orphans: orphans.map(({ messageId }) => messageId),
  };
};

const viewBranch = async (branch: Branch, parent: Place | undefined): Promise<ViewBranch> => {
  const placed = [...(await messagesOf(branch)), ...(await recordsOf(branch))];
  return {
    uid: branch.branch,
    name: branch.name,
    ...(parent === undefined ? {} : { parent: placeName(parent) }),
    items: placed.sort((a, b) => a.sequence - b.sequence).map(({ item }) => item),
    ...(await exchangesOf(branch)),
  };
};

const viewConversation = async (stemma: Stemma, uid: string): Promise<ViewConversation> => {
  const { branches, main, promoted } = await stemma.directory(uid);
  const views: ViewBranch[] = [];
  for (const { branch, parent } of branches.values()) {
    views.push(await viewBranch(await stemma.open(`${uid}/${branch}`), parent));
  }
  const first = views.find((view) => view.uid === main);
  return {
    uid,
    branches: [...(first === undefined ? [] : [first]), ...views.filter((view) => view !== first)],
    active: promoted ?? main ?? '',
  };
};

/** Everything that a store holds, read through its projections alone. */
export const readView = async (stemma: Stemma): Promise<View> => {
  const conversations: ViewConversation[] = [];
  for (const { conversation, id, parent, labels } of await stemma.conversations()) {
    const label = labels.find(({ name }) => name === 'relation')?.value;
    const relation = parent?.relation ?? label;
    const view = await viewConversation(stemma, conversation);
    conversations.push({
      ...view,
      ...(id === undefined ? {} : { id }),
      ...(relation === undefined ? {} : { relation }),
    });
  }
  return { conversations };
};

/** What must be equal of two stores: all but the uids that a store gives. */
export const outlineOf = (view: View): unknown =>
  view.conversations
    .map(({ branches, active, relation }) => ({
      relation: relation ?? null,
      active: branches.find(({ uid }) => uid === active)?.name ?? null,
      branches: branches
        .map(({ name, items, exchanges, orphans }) => ({
          name,
          items: items.map((item) => (item.kind === 'record' ? item.key : shapeOf(item))),
          exchanges,
          orphans,
        }))
        .sort((a, b) => (a.name < b.name ? -1 : 1)),
    }))
    .map((conversation) => JSON.stringify(conversation))
    .sort();

const shapeOf = (item: Exclude<ViewItem, { readonly kind: 'record' }>): unknown => {
  if (item.kind === 'compaction') {
    const { strategy, isLive, replacement } = item;
    return [strategy, isLive, replacement?.id ?? null];
  }
  const { id, role, blocks, toolCalls, answers, status, coveredBy } = item;
  return [id, role, blocks, toolCalls, answers, status, coveredBy === undefined];
};
