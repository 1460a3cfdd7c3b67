import { namesIn, reported, type Imported, type Row, type Table } from './table.js';
import { pairingOfView, type Pairing } from './pairing.js';
import {
  activeBranch,
  allItems,
  forkPlaces,
  messagesIn,
  type ViewBranch,
  type ViewConversation,
  type ViewItem,
  type ViewMessage,
} from './view.js';

const BOUNDARY = 'claude-code/compact-boundary';

const store = (how: string, value: Row['value']): Row => ({ from: 'store', how, value });
const both = (how: string, value: Row['value']): Row => ({ from: 'both', how, value });

/** The conversation that the file was active in: it shows the record that the report names. */
const activeConversation = ({ view, report }: Imported): ViewConversation | undefined => {
  const leaf = report.source['active_leaf'];
  const shows = (conversation: ViewConversation): boolean =>
    messagesIn(activeBranch(conversation)?.items ?? []).some(({ sourceId }) => sourceId === leaf);
  return view.conversations.find(shows) ?? view.conversations[0];
};

const active = (imported: Imported): ViewBranch | undefined => {
  const conversation = activeConversation(imported);
  return conversation === undefined ? undefined : activeBranch(conversation);
};

const activeItems = (imported: Imported): readonly ViewItem[] => active(imported)?.items ?? [];

/** Source ids of an item: a compaction has that of its summary. */
const idsOf = (item: ViewItem): readonly string[] => {
  if (item.kind === 'record') return [item.key];
  const message = item.kind === 'message' ? item : item.replacement;
  return message?.sourceId === undefined ? [] : [message.sourceId];
};

/** How many of the records that the report names stand on the active branch. */
const found = (imported: Imported, key: string, isIn: (item: ViewItem) => boolean): number => {
  const shown = new Set(activeItems(imported).filter(isIn).flatMap(idsOf));
  return namesIn(imported, key).filter((uuid) => shown.has(uuid)).length;
};

/** In the active context: not behind a compaction in force, or the summary of one. */
const isInContext = (item: ViewItem): boolean => {
  if (item.kind === 'message') return item.coveredBy === undefined;
  return item.kind === 'record' || item.isLive;
};

const flagged = (message: ViewMessage, flag: string): boolean => {
  const metadata: unknown = message.metadata === undefined ? {} : JSON.parse(message.metadata);
  return new Map(Object.entries(metadata as object)).get(flag) === true;
};

const userRecords = (messages: readonly ViewMessage[]): readonly ViewMessage[] => {
  // A record with results and text besides became several messages; it is no prompt.
  const results = new Set(messages.filter(({ role }) => role === 'tool').map((m) => m.sourceId));
  return messages.filter(({ role, sourceId }) => role === 'user' && !results.has(sourceId));
};

const summariesIn = (items: readonly ViewItem[]): number =>
  items.filter((item) => item.kind === 'compaction' && item.replacement !== undefined).length +
  messagesIn(items).filter((message) => flagged(message, 'isCompactSummary')).length;

/** Counts over the messages of some items, by what wrote them. */
const counts: Readonly<Record<string, (items: readonly ViewItem[]) => number>> = {
  user_prompts: (items) =>
    userRecords(messagesIn(items)).filter(
      (message) => !flagged(message, 'isMeta') && !flagged(message, 'isCompactSummary'),
    ).length,
  meta_user: (items) =>
    userRecords(messagesIn(items)).filter((message) => flagged(message, 'isMeta')).length,
  compact_summaries: summariesIn,
  assistant_api_messages: (items) =>
    new Set(assistants(items).flatMap(({ partOf }) => partOf ?? [])).size,
  assistant_records: (items) => assistants(items).length,
  tool_use: (items) => assistants(items).reduce((sum, { toolCalls }) => sum + toolCalls.length, 0),
  tool_result: (items) => messagesIn(items).filter(({ role }) => role === 'tool').length,
  thinking_blocks: (items) =>
    assistants(items).reduce((sum, { blocks }) => sum + blocks.filter(isThinking).length, 0),
};

const assistants = (items: readonly ViewItem[]): readonly ViewMessage[] =>
  messagesIn(items).filter(({ role }) => role === 'assistant');

const isThinking = (block: ViewMessage['blocks'][number]): boolean =>
  block.type === 'reasoning' && block.encrypted === undefined;

/** Items from the last compaction of the active branch on; undefined where there is none. */
const afterCompaction = (imported: Imported): readonly ViewItem[] | undefined => {
  const items = activeItems(imported);
  const last = items.findLastIndex(({ kind }) => kind === 'compaction');
  return last < 0 ? undefined : items.slice(last);
};

const group = (name: string, rows: readonly (readonly [string, Row])[]): Table =>
  Object.fromEntries(rows.map(([key, row]) => [`${name}.${key}`, row]));

const pairingRows = (
  [
    'tool_calls',
    'tool_results',
    'paired',
    'orphan_results',
    'unanswered_calls',
    'reused_call_ids',
  ] as const satisfies readonly (keyof Pairing)[]
).map((key): readonly [string, Row] => [
  key,
  store(
    'tool exchanges of all branches of all conversations',
    ({ view }) => pairingOfView(view)[key],
  ),
]);

const forkRecords = ({ view }: Imported): readonly string[] => {
  const items = new Map(allItems(view).map((item) => [item.place, item] as const));
  return view.conversations.flatMap(({ branches }) =>
    forkPlaces(branches).flatMap((place) => {
      const item = items.get(place);
      return item === undefined ? [place] : idsOf(item);
    }),
  );
};

const sourcesOf = ({ view }: Imported, roles: readonly string[]): number =>
  new Set(
    messagesIn(allItems(view))
      .filter(({ role }) => roles.includes(role))
      .map(({ sourceId }) => sourceId),
  ).size;

const fileRows: Table = Object.fromEntries(
  [
    ['records', 'lines that hold an object'],
    ['malformed_lines', 'numbers of the lines that do not'],
    ['no_final_newline', 'the file ends without a line feed'],
    ['types', 'records by type'],
    ['records_without_uuid', 'records without a uuid'],
    ['unique_uuids', 'uuids, each once'],
    ['duplicate_uuid_identical', 'later records of a uuid with the same content'],
    ['duplicate_uuid_conflicting', 'later records of a uuid with other content'],
    ['sessions', 'session ids, each once'],
    ['roots', 'records without a parent'],
    ['dangling_parents', 'records whose parent is not in the file'],
    ['forks_parallel_or_aux', 'records with several children that are no branches'],
    ['sidechain_records', 'records of sidechains'],
    ['subagent_file', 'all that was said was said on a sidechain'],
    ['summary_lines', 'records of type summary'],
    ['boundary_crossings', 'compact boundaries on the way from the active leaf'],
    ['logical_parent_cycle', 'a boundary on that way leads back to it'],
    ['logical_parent_missing', 'boundaries on that way that lead nowhere'],
    ['linear_fallback', 'no record names a parent'],
  ].map(([key = '', how = '']) => [key, reported(key, how)]),
);

/** Begun by a call of its session; where that session is elsewhere, the id alone says so. */
const isSubagent = ({ relation, id }: ViewConversation): boolean =>
  relation === 'subagent' || /^claude-code:.+\/.+$/.test(id ?? '');

const storeRows: Table = {
  sidechain_threads: store(
    'conversations that a subagent had',
    ({ view }) => view.conversations.filter(isSubagent).length,
  ),
  true_branch_points: store('places behind which branches fork', (all) => forkRecords(all).length),
  true_branch_point_uuids: store('records at these places', forkRecords),
  compact_boundaries: both(
    'compactions made by a boundary, and boundaries that the report says have no summary',
    (imported) =>
      allItems(imported.view).filter(
        (item) => item.kind === 'compaction' && item.strategy === BOUNDARY,
      ).length + namesIn(imported, 'boundaries_without_summary').length,
  ),
  active_leaf: store(
    'source of the last message of the active branch',
    (imported) => messagesIn(activeItems(imported)).at(-1)?.sourceId,
  ),
  context_chain_records: both(
    'records of the chain that stand in the active context of the store',
    (imported) => found(imported, 'context_chain', isInContext),
  ),
  full_chain_records: both('records of the chain that stand on the active branch', (imported) =>
    found(imported, 'full_chain', () => true),
  ),
  off_chain_records_of_same_api_message_or_its_results: both(
    'records off the chain that stand on the active branch',
    (imported) => found(imported, 'off_chain', () => true),
  ),
  messages_in_file_order: store('records that became messages', (imported) =>
    sourcesOf(imported, ['user', 'tool', 'assistant']),
  ),
  user_records: store('records that became messages of user or tool', (imported) =>
    sourcesOf(imported, ['user', 'tool']),
  ),
  assistant_records: store('records that became messages of the assistant', (imported) =>
    sourcesOf(imported, ['assistant']),
  ),
};

const countRows = (
  how: string,
  itemsOf: (imported: Imported) => readonly ViewItem[],
): readonly (readonly [string, Row])[] =>
  Object.entries(counts).map(([key, count]) => [
    key,
    store(how, (imported) => count(itemsOf(imported))),
  ]);

/** Of iFlow, whose order is that of the file. */
const fanRows: Table = {
  active_branch_is: reported('active_branch_is', 'which order is the transcript'),
  tool_use_blocks: reported('tool_use_blocks', 'blocks that are calls, repeated ones too'),
  repeated_blocks_identical: reported('repeated_blocks_identical', 'repeated calls say the same'),
  naive_parent_chain_records: reported('naive_parent_chain_records', 'records on the parent chain'),
  user_prompts: store('prompts on the active branch', (imported) =>
    (counts['user_prompts'] ?? (() => 0))(activeItems(imported)),
  ),
  unique_tool_calls: store('tool calls of the store', ({ view }) => pairingOfView(view).tool_calls),
  tool_results: store('results of the store', ({ view }) => pairingOfView(view).tool_results),
  paired: store('answered calls of the store', ({ view }) => pairingOfView(view).paired),
  orphan_results: store('orphans of the store', ({ view }) => pairingOfView(view).orphan_results),
  true_branches: store('places behind which branches fork', (all) => forkRecords(all).length),
};

/** After the last compaction, or null as a whole. */
const afterRow: Row = store(
  'messages from the last compaction of the active branch on',
  (imported) => {
    const items = afterCompaction(imported);
    return items === undefined
      ? null
      : Object.fromEntries(Object.entries(counts).map(([key, count]) => [key, count(items)]));
  },
);

/** How each expected key of a Claude Code session is read. */
export const claudeCodeTable: Table = {
  ...fileRows,
  ...storeRows,
  ...fanRows,
  ...group('log', pairingRows),
  ...group('active_branch', countRows('messages of the active branch', activeItems)),
  after_last_compaction: afterRow,
};
