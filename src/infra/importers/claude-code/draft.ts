import type {
  ImportedBranch,
  ImportedConversation,
  ImportedItem,
} from '../../../domain/import-plan.js';
import { usableId } from '../foreign.js';

/** Records that stand together on one branch: an API message with its results, or one prompt. */
export interface Group {
  readonly branch: BranchDraft;
  readonly apiMessageId?: string;
  readonly callIds: Set<string>;
  /** Position on the branch where what follows the group begins. */
  continuedAt?: number;
  /** Groups that go on from this one, by the name of their API message or of their calls. */
  readonly next: Map<string, Group>;
}

/** A branch while it is laid out. */
export interface BranchDraft {
  readonly key: string;
  readonly name: string;
  /** The fork point: a branch, and the position of the last item of it that is seen. */
  readonly parent?: { readonly branch: BranchDraft; readonly at: number };
  readonly items: ImportedItem[];
  /** The group of each item, beside it. */
  readonly groups: (Group | undefined)[];
  hasMessages: boolean;
}

/** A conversation while it is laid out. */
export interface ConversationDraft {
  readonly externalId: string;
  readonly parent?: ImportedConversation['parent'];
  title?: string;
  readonly branches: BranchDraft[];
  readonly names: Set<string>;
  /** The branch that records without a parent are put on. */
  current: BranchDraft;
  active: BranchDraft;
  /** Line of the record that made `active`. */
  activeLine: number;
}

const newBranch = (key: string, name: string, parent?: BranchDraft['parent']): BranchDraft => ({
  key,
  name,
  ...(parent === undefined ? {} : { parent }),
  items: [],
  groups: [],
  hasMessages: false,
});

/** Key and name of the branch that a conversation begins with. */
export const MAIN = 'main';

/** A conversation with its first branch, still empty. */
export const newConversation = (
  externalId: string,
  parent?: ImportedConversation['parent'],
): ConversationDraft => {
  const main = newBranch(MAIN, MAIN);
  return {
    externalId,
    ...(parent === undefined ? {} : { parent }),
    branches: [main],
    names: new Set([MAIN]),
    current: main,
    active: main,
    activeLine: 0,
  };
};

/** The branch that the conversation begins with. */
export const mainOf = (conversation: ConversationDraft): BranchDraft =>
  conversation.branches[0] ?? conversation.current;

const SHORT = 8;

/** What a branch begins with: another prompt, another answer, a record that follows nothing. */
export type Beginning = 'edit' | 'retry' | 'root' | 'part';

/** A branch named by the record that it begins with, so that a longer file names it alike. */
export const addBranch = (
  conversation: ConversationDraft,
  key: string,
  beginning: Beginning,
  parent?: BranchDraft['parent'],
): BranchDraft => {
  const short = `${beginning}-${key.slice(0, SHORT)}`;
  const name = conversation.names.has(short) ? usableId(`${beginning}-${key}`) : short;
  conversation.names.add(name);
  const branch = newBranch(key, name, parent);
  conversation.branches.push(branch);
  return branch;
};

/** Puts items at the end of a branch; the position of the last one. */
export const putItems = (
  branch: BranchDraft,
  items: readonly ImportedItem[],
  group?: Group,
): number => {
  for (const item of items) {
    branch.items.push(item);
    branch.groups.push(group);
  }
  return branch.items.length - 1;
};

const forkOf = (branch: BranchDraft): Pick<ImportedBranch, 'parent'> => {
  const { parent } = branch;
  const item = parent?.branch.items[parent.at];
  return parent === undefined || item === undefined
    ? {}
    : { parent: { key: parent.branch.key, record: item.record } };
};

/** The conversation as it is handed to the engine. */
export const conversationOf = (draft: ConversationDraft): ImportedConversation => ({
  externalId: draft.externalId,
  ...(draft.title === undefined ? {} : { title: draft.title }),
  ...(draft.parent === undefined ? {} : { parent: draft.parent }),
  branches: draft.branches.map((branch) => ({
    key: branch.key,
    name: branch.name,
    reason: 'import',
    ...forkOf(branch),
    items: branch.items,
    ...(branch === draft.active ? { active: true } : {}),
  })),
});
