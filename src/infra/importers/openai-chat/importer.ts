import * as E from 'fp-ts/lib/Either.js';
import { digestOf } from '../../../domain/digest.js';
import type { StemmaFault } from '../../../domain/errors.js';
import type { ImportPlan, ImportedBranch, ImportedMessage } from '../../../domain/import-plan.js';
import { scanJson, type JsonRules } from '../../../domain/json-scan.js';
import type { Json } from '../../../domain/json-value.js';
import { decodeUtf8 } from '../../../domain/text.js';
import {
  FILE_JSON,
  importIdOf,
  shortDigest,
  startNotes,
  textMember,
  usableId,
  type ImportOptions,
  type Notes,
} from '../foreign.js';
import { documentFault } from '../lines.js';
import { readDocument, type ChatDocument, type Located } from './document.js';
import {
  ATTEMPT,
  branchesOfChoices,
  branchesOfLists,
  keptMember,
  MAIN,
  messagesOfList,
} from './lists.js';
import { answeredId, SYSTEM } from './messages.js';
import { firstMisfit, isChatDocument, messageLists, suggestionFor } from './shape.js';
import { describeDocument } from './source.js';
import { branchesOfTree } from './tree.js';

/** Each level of a search tree is read on its own: fewer levels than other files may have. */
const DOCUMENT_JSON: JsonRules = { ...FILE_JSON, maxDepth: 200 };

const misfitFault = (value: Json): StemmaFault => {
  for (const list of messageLists(value)) {
    const misfit = firstMisfit(list);
    if (misfit?.reason !== 'role') continue;
    return { _tag: 'UnknownRole', index: misfit.index, path: `/${String(misfit.index)}/role` };
  }
  const suggestion = suggestionFor(value);
  return suggestion === undefined
    ? { _tag: 'InvalidShape', path: '', expected: 'chat messages' }
    : { _tag: 'ProfileMismatch', profile: SYSTEM, suggestion };
};

/** A result that names no call is refused (B26), unless what can be read is wanted. */
const namelessResult = (
  lists: readonly (readonly Located[])[],
  options: ImportOptions,
  notes: Notes,
): StemmaFault | undefined => {
  for (const [index, message] of lists.flat().entries()) {
    const isResult = textMember(message.value, 'role') === 'tool';
    if (!isResult || answeredId(message) !== undefined) continue;
    const path = `${message.pointer}/tool_call_id`;
    if (options.salvage !== true) return { _tag: 'MissingToolCallId', index, path };
    notes.add('result_without_call_id', { detail: message.pointer });
  }
  return undefined;
};

/**
 * Identity of a conversation that has none: its messages up to the first of the user. The first one
 * alone is the system prompt, which many conversations share.
 */
const openingOf = (messages: readonly ImportedMessage[]): string => {
  const user = messages.findIndex(({ message }) => message.role === 'user');
  const opening = messages.slice(0, user < 0 ? 1 : user + 1).map(({ record }) => record);
  return `${SYSTEM}-${shortDigest(JSON.stringify(opening))}`;
};

const branchesOf = (document: ChatDocument): readonly ImportedBranch[] => {
  const lists = document.lists.map(messagesOfList);
  const branches = branchesOfLists(lists);
  const [main, ...others] = branches;
  const sent = (main?.items ?? []).filter((item) => item.kind === 'message');
  const answers = branchesOfChoices(document, sent);
  const rest = document.rest.map(keptMember);
  const isActive = !answers.some(({ active }) => active === true);
  return [
    {
      key: MAIN,
      name: MAIN,
      reason: 'import',
      items: [...rest, ...sent],
      ...(isActive ? { active: true } : {}),
    },
    ...others,
    ...answers,
    ...(document.tree === undefined ? [] : branchesOfTree(document.tree, sent)),
  ];
};

/** Messages of attempts that stand on a branch already. */
const repeatedIn = (document: ChatDocument, branches: readonly ImportedBranch[]): number => {
  const attempts = branches.filter(({ key }) => key === MAIN || key.startsWith(ATTEMPT));
  const kept = attempts.flatMap(({ items }) => items.filter(({ kind }) => kind === 'message'));
  return document.lists.flat().length - kept.length;
};

const planOf = (
  bytes: Uint8Array,
  document: ChatDocument,
  options: ImportOptions,
  notes: Notes,
): ImportPlan => {
  const branches = branchesOf(document);
  const items = branches.flatMap((branch) => branch.items);
  const messages = items.filter((item) => item.kind === 'message');
  const main = (branches[0]?.items ?? []).filter((item) => item.kind === 'message');
  const externalId = options.id === undefined ? openingOf(main) : usableId(options.id);
  const digest = digestOf(bytes);
  return {
    format: SYSTEM,
    importId: importIdOf(SYSTEM, [externalId], digest),
    digest,
    conversations: [{ externalId, branches }],
    report: {
      format: SYSTEM,
      records: items.length,
      mapped: messages.length,
      kept: items.length - messages.length,
      duplicates: repeatedIn(document, branches),
      notes: notes.list,
      source: describeDocument(document),
    },
  };
};

/**
 * Plan of a document of chat messages: a list of them, the body of a request, a request with its
 * recorded response, or a search with its attempts and tree. The messages are `main`; answers,
 * diverging attempts and paths of the tree are branches; all other members are kept word for word.
 */
export const planOpenAiChat = (
  bytes: Uint8Array,
  options: ImportOptions,
): E.Either<StemmaFault, ImportPlan> => {
  const notes = startNotes();
  const decoded = decodeUtf8(bytes);
  if (E.isLeft(decoded)) return decoded;
  const { text, bom } = decoded.right;
  if (bom) notes.add('byte_order_mark', { line: 1 });
  const scanned = scanJson(text, DOCUMENT_JSON);
  if (E.isLeft(scanned)) return E.left(documentFault(scanned.left, text, bom));
  if (scanned.right.dupKeys) notes.add('dup_keys');
  const value = JSON.parse(text) as Json;
  if (!isChatDocument(value)) return E.left(misfitFault(value));
  const document = readDocument(text, value);
  const fault = namelessResult(document.lists, options, notes);
  return fault === undefined ? E.right(planOf(bytes, document, options, notes)) : E.left(fault);
};
