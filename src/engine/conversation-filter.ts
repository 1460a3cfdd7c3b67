import * as E from 'fp-ts/lib/Either.js';
import type { FaultOf, StemmaFault } from '../domain/errors.js';
import type { Label } from '../domain/events/references.js';

/** Which conversations are wanted; several filters hold together. */
export interface ConversationFilter {
  /** A label by its name, or labels with the values that they must have. */
  readonly label?: string | Readonly<Record<string, string>>;
  /** The caller's id, exactly. */
  readonly id?: string;
  readonly closed?: boolean;
}

/** What is looked at of a conversation. */
interface Filterable {
  readonly labels: readonly Label[];
  readonly id?: string;
  readonly closed: boolean;
}

type Wanted = (row: Filterable) => boolean;

/** A name that a caller made up is not echoed at any length. */
const NAME_LENGTH = 120;

const refuse = (name: string, reason: FaultOf<'InvalidArgument'>['reason']): StemmaFault => ({
  _tag: 'InvalidArgument',
  name,
  reason,
});

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const labelled = (value: unknown): E.Either<StemmaFault, Wanted> => {
  if (typeof value === 'string') {
    return E.right(({ labels }) => labels.some(({ name }) => name === value));
  }
  if (!isRecord(value)) return E.left(refuse('label', 'wrong_type'));
  // Names and values are compared, never looked up by path: whatever they look like, they are texts.
  const entries = Object.entries(value);
  if (entries.some(([, text]) => typeof text !== 'string')) {
    return E.left(refuse('label', 'wrong_type'));
  }
  return E.right(({ labels }) =>
    entries.every(([name, text]) => labels.some((l) => l.name === name && l.value === text)),
  );
};

const filters: Readonly<Record<string, (value: unknown) => E.Either<StemmaFault, Wanted>>> = {
  label: labelled,
  id: (value) =>
    typeof value === 'string'
      ? E.right(({ id }) => id === value)
      : E.left(refuse('id', 'wrong_type')),
  closed: (value) =>
    typeof value === 'boolean'
      ? E.right(({ closed }) => closed === value)
      : E.left(refuse('closed', 'wrong_type')),
};

/** Reads a filter; a key that is none of its own is refused, never passed by (B64). */
export const wantedConversations = (filter: ConversationFilter): E.Either<StemmaFault, Wanted> => {
  const given: unknown = filter;
  if (!isRecord(given)) return E.left(refuse('filter', 'wrong_type'));
  const all: Wanted[] = [];
  for (const [name, value] of Object.entries(given)) {
    const read = Object.hasOwn(filters, name) ? filters[name] : undefined;
    if (read === undefined) {
      return E.left({ _tag: 'UnknownFilter', name: name.slice(0, NAME_LENGTH) });
    }
    if (value === undefined) continue;
    const wanted = read(value);
    if (E.isLeft(wanted)) return wanted;
    all.push(wanted.right);
  }
  return E.right((row) => all.every((wanted) => wanted(row)));
};
