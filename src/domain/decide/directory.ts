import type { BranchEntry, DirectoryState } from '../directory-state.js';
import type { StemmaFault } from '../errors.js';
import type { DomainEvent } from '../events/catalog.js';
import type {
  AnnotationTarget,
  BranchRegistered,
  ConversationStarted,
  ImportCompleted,
  ImportStarted,
} from '../events/directory-events.js';
import type { MessageRef } from '../events/references.js';
import type { Uid } from '../ids.js';
import type { Slot } from '../slot.js';
import { append, known, plain, refuse, type Command, type CommandName } from './decision.js';

/** A conversation begins once: the same start again finds it. */
export const startConversation = (
  started: ConversationStarted,
): Command<DirectoryState, { readonly main: Uid }> => ({
  name: 'start',
  keysOf: [],
  decide: (state) => {
    if (state.main !== undefined) return known([]);
    const registered: BranchRegistered = {
      branch: started.main,
      name: 'main',
      depth: 0,
      ancestors: [],
      reason: 'start',
    };
    return append([
      plain({ type: 'ConversationStarted', data: started }),
      plain({ type: 'BranchRegistered', data: registered }),
    ]);
  },
  answer: () => ({ main: started.main }),
});

const closedFault = (conversation: Uid, state: DirectoryState): StemmaFault | undefined =>
  state.closed ? { _tag: 'ConversationIsClosed', conversation } : undefined;

/** Registers a fork. The name is made unique, so that it can be used to refer to the branch. */
export const registerBranch = (
  conversation: Uid,
  data: BranchRegistered,
): Command<DirectoryState, { readonly branch: Uid }> => ({
  name: 'registerBranch',
  keysOf: [],
  decide: (state) => {
    if (state.branches.has(data.branch)) return known([]);
    const fault = closedFault(conversation, state);
    if (fault !== undefined) return refuse(fault);
    return append([
      plain({ type: 'BranchRegistered', data: { ...data, name: freeName(state, data.name) } }),
    ]);
  },
  answer: () => ({ branch: data.branch }),
});

const freeName = (state: DirectoryState, wanted: string): string => {
  const taken = new Set([...state.branches.values()].map(({ name }) => name));
  if (!taken.has(wanted)) return wanted;
  for (let count = 2; ; count += 1) {
    const name = `${wanted}-${String(count)}`;
    if (!taken.has(name)) return name;
  }
};

const onBranch = (
  state: DirectoryState,
  branch: Uid,
  then: (entry: BranchEntry) => DomainEvent | undefined,
) => {
  const entry = state.branches.get(branch);
  if (entry === undefined) return refuse({ _tag: 'NotFound', kind: 'branch', ref: branch });
  const event = then(entry);
  return event === undefined ? known([]) : append([plain(event)]);
};

const simple = <A>(
  name: CommandName,
  decide: Command<DirectoryState, A>['decide'],
  answer: A,
): Command<DirectoryState, A> => ({
  name,
  keysOf: [],
  decide,
  answer: () => answer,
});

export const labelBranch = (branch: Uid, name: string) =>
  simple(
    'label',
    (state) =>
      onBranch(state, branch, (entry) =>
        entry.name === name ? undefined : { type: 'BranchLabelled', data: { branch, name } },
      ),
    { branch, name },
  );

/** Marks the branch that is delivered. */
export const promoteBranch = (branch: Uid, reason?: Slot) =>
  simple(
    'promote',
    (state) =>
      onBranch(state, branch, () =>
        state.promoted === branch
          ? undefined
          : {
              type: 'BranchPromoted',
              data: { branch, ...(reason === undefined ? {} : { reason }) },
            },
      ),
    { branch },
  );

/** Hides a message from contexts and views on all branches. */
export const redactMessage = (message: MessageRef, authority: string, reason?: Slot) =>
  simple(
    'redact',
    () =>
      append([
        plain({
          type: 'MessageRedacted',
          data: { message, authority, ...(reason === undefined ? {} : { reason }) },
        }),
      ]),
    { message: message.id },
  );

export const annotate = (
  kind: 'MetadataAnnotated' | 'FeedbackRecorded',
  target: AnnotationTarget,
  name: string,
  value: Slot,
) =>
  simple('annotate', () => append([plain({ type: kind, data: { target, name, value } })]), {
    target: target.ref,
  });

export const closeConversation = (reason?: Slot) =>
  simple(
    'close',
    (state) =>
      state.closed
        ? known([])
        : append([
            plain({ type: 'ConversationClosed', data: reason === undefined ? {} : { reason } }),
          ]),
    { closed: true },
  );

export const reopenConversation = (reason?: Slot) =>
  simple(
    'reopen',
    (state) =>
      state.closed
        ? append([
            plain({ type: 'ConversationReopened', data: reason === undefined ? {} : { reason } }),
          ])
        : known([]),
    { closed: false },
  );

/** Branches of an import stay hidden until it is completed; an import that broke off goes on. */
export const startImport = (data: ImportStarted) =>
  simple(
    'startImport',
    (state) =>
      state.imports.has(data.import) ? known([]) : append([plain({ type: 'ImportStarted', data })]),
    { import: data.import },
  );

export const completeImport = (data: ImportCompleted) =>
  simple(
    'completeImport',
    (state) =>
      state.imports.has(data.import)
        ? append([plain({ type: 'ImportCompleted', data })])
        : known([]),
    { import: data.import },
  );
