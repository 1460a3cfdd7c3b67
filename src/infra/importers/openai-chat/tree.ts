import type { ImportedBranch, ImportedItem, ImportedMessage } from '../../../domain/import-plan.js';
import type { Message } from '../../../domain/message.js';
import { nameMember, textMember } from '../foreign.js';
import { locatedItems, locatedMember, sourceWithout, type Located } from './document.js';
import { SYSTEM } from './messages.js';

/** Key and name of the first branch of a search tree; those of the others begin with it. */
export const TREE = 'tree';

interface Step {
  readonly node: Located;
  /** Branch that the node stands on, and the record before it there. */
  readonly branch: Draft;
  readonly before: string | undefined;
  /** Function that the action above named. */
  readonly action: string;
  /** First message of the thought that led here. */
  readonly thought: string | undefined;
}

interface Draft {
  readonly key: string;
  readonly parent?: ImportedBranch['parent'];
  readonly items: ImportedItem[];
}

interface Grown {
  readonly items: readonly ImportedItem[];
  readonly action: string;
  readonly thought: string | undefined;
}

const keyOf = (node: Located): string => `${TREE}${node.pointer.slice('/tree/tree'.length)}`;

const message = (
  node: Located,
  id: string,
  body: Pick<Message, 'role' | 'blocks' | 'trust'> & Partial<Message>,
  answers: readonly string[] = [],
): ImportedMessage => ({
  kind: 'message',
  record: id,
  message: {
    id,
    toolCalls: [],
    answers: [],
    status: 'confirmed',
    provenance: { kind: 'importer', system: SYSTEM, sourceId: keyOf(node) },
    ...body,
  },
  answersCallIds: answers,
});

const kept = (node: Located, raw: string): ImportedItem => ({
  kind: 'record',
  record: keyOf(node),
  recordKind: nodeKind(node),
  raw,
});

const nodeKind = (node: Located): string => {
  const type = textMember(node.value, 'node_type') ?? '';
  return /^[\w ]{1,40}$/.test(type) ? `${TREE}/${type}` : `${TREE}/other`;
};

/** A call by the action above, with these arguments, and what was observed. */
const callItems = (step: Step, raw: string): readonly ImportedItem[] => {
  const { node, action, thought } = step;
  const id = keyOf(node);
  const observation = textMember(node.value, 'observation');
  const call = message(node, id, {
    role: 'assistant',
    trust: 'model',
    blocks: [],
    toolCalls: [
      { id: action, name: action, arguments: textMember(node.value, 'description') ?? '' },
    ],
    ...(thought === undefined ? {} : { partOf: thought }),
    raw: { system: SYSTEM, text: raw },
  });
  if (observation === undefined) return [call];
  const result = { role: 'tool', trust: 'external', name: action, outcome: 'ok' } as const;
  const blocks = observation === '' ? [] : [{ type: 'text', text: observation } as const];
  return [call, message(node, `${id}#result`, { ...result, blocks }, [action])];
};

const grow = (step: Step): Grown => {
  const { node } = step;
  const raw = sourceWithout(node, ['children']);
  const type = textMember(node.value, 'node_type');
  const description = nameMember(node.value, 'description');
  const id = keyOf(node);
  if (type === 'Thought' && description !== undefined) {
    const thought = message(node, id, {
      role: 'assistant',
      trust: 'model',
      blocks: [{ type: 'text', text: description }],
      partOf: id,
      raw: { system: SYSTEM, text: raw },
    });
    return { items: [thought], action: '', thought: id };
  }
  if (type === 'Action Input' && step.action !== '') {
    return { items: callItems(step, raw), action: '', thought: undefined };
  }
  return {
    items: [kept(node, raw)],
    action: type === 'Action' ? (description ?? '') : '',
    thought: step.thought,
  };
};

/** The prompts that every path of the search begins with; their lines are kept elsewhere. */
const opening = (list: readonly ImportedMessage[]): readonly ImportedItem[] => {
  const answer = list.findIndex(({ message: { role } }) => role === 'assistant');
  return list.slice(0, Math.max(0, answer)).map((item) => {
    const { raw: _raw, ...rest } = item.message;
    return { ...item, message: rest };
  });
};

/**
 * Branches of a search tree. The first child of a node goes on on its branch, each further one begins
 * a branch; a node is a thought, a call with its observation, or a record.
 */
export const branchesOfTree = (
  root: Located,
  attempt: readonly ImportedMessage[],
): readonly ImportedBranch[] => {
  const trunk: Draft = { key: TREE, items: [...opening(attempt)] };
  const drafts: Draft[] = [trunk];
  const steps: Step[] = [
    { node: root, branch: trunk, before: undefined, action: '', thought: undefined },
  ];
  for (let step = steps.pop(); step !== undefined; step = steps.pop()) {
    const grown = grow(step);
    step.branch.items.push(...grown.items);
    const last = grown.items[grown.items.length - 1]?.record ?? keyOf(step.node);
    const { action, thought } = grown;
    const next: Step[] = [];
    for (const [index, node] of locatedItems(locatedMember(step.node, 'children')).entries()) {
      const branch: Draft =
        index === 0
          ? step.branch
          : { key: keyOf(node), parent: { key: step.branch.key, record: last }, items: [] };
      if (index > 0) drafts.push(branch);
      next.push({ node, branch, before: last, action, thought });
    }
    steps.push(...next.reverse());
  }
  return drafts.map(({ key, parent, items }) => ({
    key,
    name: key,
    reason: 'import',
    ...(parent === undefined ? {} : { parent }),
    items,
  }));
};
