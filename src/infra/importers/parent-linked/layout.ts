import type {
  ImportedBranch,
  ImportedConversation,
  ImportedItem,
} from '../../../domain/import-plan.js';
import { usableId } from '../foreign.js';
import { answeredBy, callsOf, messageItem, recordItem } from './messages.js';
import type { LinkedRecord } from './record.js';

export interface LayoutOptions {
  /** Identity of the conversation. */
  readonly base: string;
  readonly importId: string;
  readonly leaf: string | undefined;
}

/** Messages as they follow each other, and the records that hang at them. */
interface Tree {
  readonly records: ReadonlyMap<string, LinkedRecord>;
  /** Children by message, in the order of the file. */
  readonly children: Map<string, string[]>;
  readonly roots: readonly string[];
  readonly attached: ReadonlyMap<string, readonly LinkedRecord[]>;
  readonly loose: readonly LinkedRecord[];
}

/** The message that a record hangs at, past records that are none. */
const messageAbove = (
  records: ReadonlyMap<string, LinkedRecord>,
  record: LinkedRecord | undefined,
): string | undefined => {
  let at = record?.parent === undefined ? undefined : records.get(record.parent);
  while (at !== undefined && !at.isMessage) {
    at = at.parent === undefined ? undefined : records.get(at.parent);
  }
  return at?.id;
};

const treeOf = (list: readonly LinkedRecord[]): Tree => {
  const records = new Map(list.map((record) => [record.id, record]));
  const children = new Map<string, string[]>();
  const attached = new Map<string, LinkedRecord[]>();
  const [roots, loose]: [string[], LinkedRecord[]] = [[], []];
  for (const record of list) {
    const above = messageAbove(records, record);
    if (record.isMessage) {
      if (above === undefined) roots.push(record.id);
      else children.set(above, [...(children.get(above) ?? []), record.id]);
    } else if (above === undefined) loose.push(record);
    else attached.set(above, [...(attached.get(above) ?? []), record]);
  }
  return { records, children, roots, attached, loose };
};

/** Results that answer the calls of one message, wherever below it they hang; each call once. */
const groupOf = ({ records, children }: Tree, caller: LinkedRecord): readonly string[] => {
  const open = new Set(callsOf(caller).map(({ id }) => id));
  const group: string[] = [];
  const queue = [...(children.get(caller.id) ?? [])];
  for (let id = queue.shift(); id !== undefined; id = queue.shift()) {
    const record = records.get(id);
    const answered = record && answeredBy(record.value);
    if (answered === undefined || !open.delete(answered)) continue;
    group.push(id);
    queue.push(...(children.get(id) ?? []));
  }
  return group;
};

const inFileOrder = (tree: Tree, ids: readonly string[]): string[] =>
  [...ids].sort((a, b) => (tree.records.get(a)?.line ?? 0) - (tree.records.get(b)?.line ?? 0));

/** Strings the results of one message on one path; what hangs at any of them goes on behind all. */
const joinGroups = (tree: Tree): void => {
  const { records, children } = tree;
  for (const caller of records.values()) {
    if (!caller.isMessage || callsOf(caller).length === 0) continue;
    const group = inFileOrder(tree, groupOf(tree, caller));
    const [first] = group;
    const last = group.at(-1);
    if (first === undefined || last === undefined) continue;
    const inGroup = new Set(group);
    const outside = (ids: readonly string[]): string[] => ids.filter((id) => !inGroup.has(id));
    const behind = group.flatMap((id) => outside(children.get(id) ?? []));
    const beside = outside(children.get(caller.id) ?? []);
    children.set(caller.id, inFileOrder(tree, [first, ...beside]));
    group.forEach((id, index) => {
      const next = group[index + 1];
      children.set(id, next === undefined ? inFileOrder(tree, behind) : [next]);
    });
  }
};

interface BranchDraft {
  readonly key: string;
  readonly parent?: { readonly key: string; readonly record: string };
  readonly items: ImportedItem[];
  /** Last message on it. */
  tip: string;
  active: boolean;
}

const itemsOf = (tree: Tree, id: string, importId: string): readonly ImportedItem[] => {
  const record = tree.records.get(id);
  if (record === undefined) return [];
  const kept = tree.attached.get(id) ?? [];
  return [messageItem(record, importId), ...kept.map(recordItem)];
};

/** The first child goes on on its branch, each further one begins a branch of its own. */
const branchesFrom = (tree: Tree, root: string, importId: string): BranchDraft[] => {
  const trunk: BranchDraft = { key: 'main', items: [], tip: root, active: false };
  const drafts = [trunk];
  const steps = [{ id: root, branch: trunk }];
  for (let step = steps.pop(); step !== undefined; step = steps.pop()) {
    const { id, branch } = step;
    branch.items.push(...itemsOf(tree, id, importId));
    branch.tip = id;
    const next = (tree.children.get(id) ?? []).map((child, index) => {
      if (index === 0) return { id: child, branch };
      const parent = { key: branch.key, record: usableId(id) };
      const draft = { key: usableId(child), parent, items: [], tip: child, active: false };
      drafts.push(draft);
      return { id: child, branch: draft };
    });
    steps.push(...next.reverse());
  }
  return drafts;
};

const holds = ({ items }: BranchDraft, id: string): boolean =>
  items.some((item) => item.kind === 'message' && item.record === usableId(id));

const isResult = (tree: Tree, id: string | undefined): boolean => {
  const record = id === undefined ? undefined : tree.records.get(id);
  return record !== undefined && answeredBy(record.value) !== undefined;
};

/** Behind one result of a group come the others. */
const groupEnd = (tree: Tree, leaf: string): string => {
  let shown = leaf;
  for (;;) {
    const next = tree.children.get(shown) ?? [];
    if (!isResult(tree, shown) || next.length !== 1 || !isResult(tree, next[0])) return shown;
    shown = next[0] ?? shown;
  }
};

/** The branch that ends with the message shown last; one of its own where paths go on behind it. */
const activate = (tree: Tree, drafts: BranchDraft[], leaf: string): void => {
  const shown = groupEnd(tree, leaf);
  const branch = drafts.find((draft) => holds(draft, shown));
  if (branch === undefined) return;
  if (branch.tip === shown) {
    branch.active = true;
    return;
  }
  const parent = { key: branch.key, record: usableId(shown) };
  drafts.push({ key: `shown ${usableId(shown)}`, parent, items: [], tip: shown, active: true });
};

const branchOf = ({ key, parent, items, active }: BranchDraft): ImportedBranch => ({
  key,
  name: key,
  reason: 'import',
  ...(parent === undefined ? {} : { parent }),
  items,
  ...(active ? { active } : {}),
});

/** Conversations of the file, one for each root; the first holds what hangs at no message. */
export const conversationsOf = (
  list: readonly LinkedRecord[],
  { base, importId, leaf }: LayoutOptions,
): readonly ImportedConversation[] => {
  const tree = treeOf(list);
  joinGroups(tree);
  const last = leaf === undefined ? undefined : tree.records.get(leaf);
  const shown = last?.isMessage === true ? last.id : messageAbove(tree.records, last);
  const loose = tree.loose.map(recordItem);
  if (tree.roots.length === 0) {
    const branch = { key: 'main', name: 'main', reason: 'import', items: loose } as const;
    return [{ externalId: base, branches: [branch] }];
  }
  return tree.roots.map((root, index) => {
    const drafts = branchesFrom(tree, root, importId);
    if (shown !== undefined) activate(tree, drafts, shown);
    if (index === 0) drafts[0]?.items.unshift(...loose);
    return {
      externalId: index === 0 ? base : `${base}#${usableId(root)}`,
      branches: drafts.map(branchOf),
    };
  });
};
