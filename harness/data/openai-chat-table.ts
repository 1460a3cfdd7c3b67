import { pairingOfBranch, type Pairing } from './pairing.js';
import { reported, type Imported, type Row, type Table } from './table.js';
import { allItems, forkPlaces, messagesIn, type ViewBranch, type ViewMessage } from './view.js';

const TREE = 'tree';

const store = (how: string, value: Row['value']): Row => ({ from: 'store', how, value });

/** The branch of the messages that were sent; answers and attempts fork from it. */
const mainOf = ({ view }: Imported): ViewBranch | undefined => view.conversations[0]?.branches[0];

const messages = (imported: Imported): readonly ViewMessage[] =>
  messagesIn(mainOf(imported)?.items ?? []);

/** A result of the older form names its function, and is paired by that name. */
const sourceRole = ({ role, name, answers, foreignCallId }: ViewMessage): string =>
  role === 'tool' && name !== undefined && (answers[0] ?? foreignCallId) === name
    ? 'function'
    : role;

const rolesOf = (list: readonly ViewMessage[]): Readonly<Record<string, number>> => {
  const counts = new Map<string, number>();
  for (const message of list) {
    const role = sourceRole(message);
    counts.set(role, (counts.get(role) ?? 0) + 1);
  }
  return Object.fromEntries(counts);
};

const hasReasoning = ({ blocks }: ViewMessage): boolean =>
  blocks.some(({ type }) => type === 'reasoning');

const isWithoutContent = ({ role, blocks }: ViewMessage): boolean =>
  role === 'assistant' && blocks.every(({ type }) => type === 'reasoning' || type === 'tool_call');

const pairing = (key: keyof Pairing): Row =>
  store('tool exchanges of the main branch', (imported) => {
    const main = mainOf(imported);
    return main === undefined ? 0 : pairingOfBranch(main)[key];
  });

const listRows: Table = {
  messages: store('messages of the main branch', (imported) => messages(imported).length),
  roles: store('messages of the main branch by role', (imported) => rolesOf(messages(imported))),
  reasoning_content: store(
    'messages of the main branch with a block of reasoning',
    (imported) => messages(imported).filter(hasReasoning).length,
  ),
  assistant_content_null_or_empty: store(
    'messages of the assistant on the main branch that say nothing',
    (imported) => messages(imported).filter(isWithoutContent).length,
  ),
  tool_calls: pairing('tool_calls'),
  tool_results: pairing('tool_results'),
  paired: pairing('paired'),
  orphan_results: pairing('orphan_results'),
  unanswered_calls: pairing('unanswered_calls'),
  reused_call_ids: pairing('reused_call_ids'),
};

const treeBranches = ({ view }: Imported): readonly ViewBranch[] =>
  view.conversations.flatMap(({ branches }) =>
    branches.filter(({ name }) => name === TREE || name.startsWith(`${TREE}/`)),
  );

/** Names of nodes that the store shows, as messages or as records. */
const nodesIn = ({ view }: Imported): ReadonlySet<string> =>
  new Set(
    allItems(view).flatMap((item) => {
      const name =
        item.kind === 'message' ? item.sourceId : item.kind === 'record' ? item.key : undefined;
      return name === TREE || name?.startsWith(`${TREE}/`) === true ? [name] : [];
    }),
  );

const searchRows: Table = {
  train_messages: reported('train_messages', 'lengths of the attempts'),
  node_types: reported('node_types', 'nodes of the tree by type'),
  tree_nodes: store('nodes that became messages or records', (all) => nodesIn(all).size),
  tree_branch_points: store(
    'places behind which branches of the tree fork',
    (all) => forkPlaces(treeBranches(all)).length,
  ),
  tree_leaves: store(
    'branches of the tree: each ends in a leaf',
    (all) => treeBranches(all).length,
  ),
};

/** How each expected key of a document of chat messages is read. */
export const openaiChatTable: Table = {
  ...listRows,
  ...searchRows,
  ...Object.fromEntries(Object.entries(listRows).map(([key, row]) => [`longest.${key}`, row])),
  response_status: reported('response_status', 'status of the recorded response'),
  tools_declared: reported('tools_declared', 'tools that the request declares'),
};
