import type { ImportedBranch, ImportedItem, ImportedMessage } from '../../../domain/import-plan.js';
import { nameMember, shortDigest } from '../foreign.js';
import type { ChatDocument, Located } from './document.js';
import { locatedMember, sourceWithout } from './document.js';
import { messageOf } from './messages.js';

/** Key and name of the branch of the messages that were sent. */
export const MAIN = 'main';
/** What keys of branches of diverging attempts begin with. */
export const ATTEMPT = 'attempt-';

/** Ids given by the source count only where they name one message. */
const givenIds = (messages: readonly Located[]): ReadonlySet<string> => {
  const [once, again] = [new Set<string>(), new Set<string>()];
  for (const { value } of messages) {
    const id = nameMember(value, 'id');
    if (id !== undefined) (once.has(id) ? again : once).add(id);
  }
  return again;
};

/** Messages of a list, each named by its place and content. */
export const messagesOfList = (list: readonly Located[]): readonly ImportedMessage[] => {
  const repeated = givenIds(list);
  return list.map((message, index) => {
    const id = nameMember(message.value, 'id');
    return messageOf(message, `m${String(index)}`, id !== undefined && repeated.has(id));
  });
};

/** A member of the document that is no message, word for word, named by place and content. */
export const keptMember = ({ pointer, source }: Located): ImportedItem => ({
  kind: 'record',
  record: `${pointer.slice(0, 100)}-${shortDigest(source)}`,
  recordKind: 'member',
  raw: source,
});

interface Trie {
  readonly branch: { readonly key: string; readonly items: readonly ImportedMessage[] };
}

/** Where a list leaves those before it: behind how many messages, and on which branch these stand. */
const sharedWith = (
  known: readonly Trie[],
  list: readonly ImportedMessage[],
): { readonly length: number; readonly of: Trie | undefined } => {
  let best: { length: number; of: Trie | undefined } = { length: 0, of: undefined };
  for (const of of known) {
    const { items } = of.branch;
    let length = 0;
    while (length < list.length && items[length]?.record === list[length]?.record) length += 1;
    if (length > best.length) best = { length, of };
  }
  return best;
};

/**
 * Branches of several lists: the longest is `main`; one that is a beginning of it adds nothing; one
 * that leaves it is a branch from there.
 */
export const branchesOfLists = (
  lists: readonly (readonly ImportedMessage[])[],
): readonly ImportedBranch[] => {
  const main = lists.reduce<readonly ImportedMessage[]>(
    (longest, list) => (list.length > longest.length ? list : longest),
    [],
  );
  const known: Trie[] = [{ branch: { key: MAIN, items: main } }];
  const branches: ImportedBranch[] = [
    { key: MAIN, name: MAIN, reason: 'import', items: main, active: true },
  ];
  for (const list of lists) {
    const { length, of } = sharedWith(known, list);
    const [first, last] = [list[length], list[length - 1]];
    if (first === undefined) continue;
    const key = `${ATTEMPT}${first.record}`;
    known.push({ branch: { key, items: list } });
    branches.push({
      key,
      name: key.slice(0, 60),
      reason: 'import',
      ...(last === undefined || of === undefined
        ? {}
        : { parent: { key: ownerOf(branches, of.branch.key, last.record), record: last.record } }),
      items: list.slice(length),
    });
  }
  return branches;
};

/** The branch on the way up from `key` that holds a record itself. */
const ownerOf = (branches: readonly ImportedBranch[], key: string, record: string): string => {
  let at = branches.find((branch) => branch.key === key);
  while (at !== undefined && !at.items.some((item) => item.record === record)) {
    const above: string | undefined = at.parent?.key;
    at = branches.find((branch) => branch.key === above);
  }
  return at?.key ?? MAIN;
};

/** Each alternative answer of a response is a branch behind the messages that were sent. */
export const branchesOfChoices = (
  { choices, responseId }: ChatDocument,
  sent: readonly ImportedMessage[],
): readonly ImportedBranch[] => {
  const last = sent[sent.length - 1];
  return choices.flatMap((choice, index) => {
    const message = locatedMember(choice, 'message');
    if (message === undefined) return [];
    const answer = messageOf(message, `m${String(sent.length)}`, true);
    const key = `answer-${shortDigest(`${responseId ?? ''} ${String(index)} ${answer.record}`)}`;
    const around = sourceWithout(choice, ['message']);
    const kept = keptMember({ value: null, pointer: choice.pointer, source: around });
    return [
      {
        key,
        name: choices.length === 1 ? 'answer' : `answer-${String(index + 1)}`,
        reason: 'import' as const,
        ...(last === undefined ? {} : { parent: { key: MAIN, record: last.record } }),
        items: [answer, kept],
        ...(index === 0 ? { active: true } : {}),
      },
    ];
  });
};
