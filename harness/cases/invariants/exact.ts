import type { ContextPlan } from '../../../src/domain/context/plan.js';
import type { CaseMessage } from '../input-shape.js';
import { wireOf } from '../context-facts.js';
import { withoutLabel } from '../provider-messages.js';
import type { Run } from '../run.js';
import { isFields, isList, type Fields } from '../shape.js';
import { isEqual, shown } from '../values.js';
import { firstWrong, ofPlan, type Check } from './judged.js';
import { escaped, sentText, wireMessages } from './wire.js';

const contentOf = (message: Fields): readonly unknown[] => {
  for (const key of ['content', 'parts']) {
    const value = message[key];
    if (isList(value)) return value;
    if (typeof value === 'string') return [{ type: 'text', text: value }];
  }
  return [];
};

const typeOf = (block: unknown): string =>
  isFields(block)
    ? typeof block['type'] === 'string'
      ? block['type']
      : (Object.keys(block)[0] ?? '')
    : typeof block;

const givenWire = ({ input }: Run): readonly Fields[] => input.wire.map(withoutLabel);

const isProvider = ({ input }: Run): boolean => input.format === 'provider';

/** Messages of the case that are sent, with the parts that they were given in. */
const givenParts = (
  run: Run,
  plan: ContextPlan,
): readonly { readonly id: string; readonly given: CaseMessage }[] =>
  plan.sent.flatMap((id) => {
    const given = run.talk.given.get(id);
    return given === undefined ? [] : [{ id, given }];
  });

/** Texts by which the parts of a message are found again, in order. */
const marksOf = ({ content, tool_calls: calls = [] }: CaseMessage): readonly string[] => [
  ...(isList(content) ? content.filter(isFields) : []).flatMap((part) => {
    const mark = part['type'] === 'image' ? part['data'] : part['text'];
    return typeof mark === 'string' && mark !== '' ? [mark] : [];
  }),
  ...(typeof content === 'string' && content !== '' ? [content] : []),
  ...calls.map(({ name }) => name),
];

const inOrder = (text: string, marks: readonly string[]): boolean => {
  let at = 0;
  return marks.every((mark) => {
    const found = text.indexOf(escaped(mark), at);
    if (found < 0) return !text.includes(escaped(mark));
    at = found + 1;
    return true;
  });
};

export const blockOrderKept: Check = ofPlan((plan, { run }) => {
  if (isProvider(run)) {
    const types = (list: readonly Fields[]): readonly string[] =>
      list.flatMap(contentOf).map(typeOf);
    const [given, sent] = [types(givenWire(run)), types(wireMessages(wireOf(plan)))];
    return isEqual(given, sent) ? undefined : `${shown(given)} went out as ${shown(sent)}`;
  }
  return firstWrong(givenParts(run, plan), ({ id, given }) =>
    inOrder(sentText(plan, id), marksOf(given))
      ? undefined
      : `the blocks of ${id} are out of order`,
  );
});

/** Parts of a message, those of a result where it is nothing else. */
const partsOf = (message: Fields): readonly unknown[] => {
  const parts = contentOf(message);
  const [only] = parts;
  const isResult = parts.length === 1 && isFields(only) && only['type'] === 'tool_result';
  return isResult ? contentOf(only) : parts;
};

export const partsNotSplitOrMerged: Check = ofPlan((plan, { run }) => {
  if (isProvider(run)) {
    const counts = (list: readonly Fields[]): readonly number[] =>
      list.map((message) => contentOf(message).length);
    const [given, sent] = [counts(givenWire(run)), counts(wireMessages(wireOf(plan)))];
    return isEqual(given, sent) ? undefined : `${shown(given)} parts went out as ${shown(sent)}`;
  }
  return firstWrong(givenParts(run, plan), ({ id, given }) => {
    const entry = plan.layout.find(({ ids }) => ids.length === 1 && ids[0] === id);
    const { content, tool_calls: calls = [] } = given;
    if (entry === undefined || !isList(content) || calls.length > 0) return undefined;
    const message = wireMessages(wireOf(plan))[Number(entry.path[1])];
    const count = message === undefined ? 0 : partsOf(message).length;
    return entry.path[0] !== 'messages' || count === content.length
      ? undefined
      : `${id} has ${String(content.length)} parts and went out in ${String(count)}`;
  });
});

const isSigned = (block: Fields): boolean =>
  ['thinking', 'redacted_thinking', 'reasoning'].includes(String(block['type'])) ||
  typeof block['signature'] === 'string' ||
  typeof block['thoughtSignature'] === 'string' ||
  typeof block['encrypted_content'] === 'string';

function* objectsIn(value: unknown): Generator<Fields> {
  if (isList(value)) for (const item of value) yield* objectsIn(item);
  if (!isFields(value)) return;
  yield value;
  for (const entry of Object.values(value)) yield* objectsIn(entry);
}

const signedIn = (value: unknown): readonly Fields[] => [...objectsIn(value)].filter(isSigned);

interface Signed {
  readonly text: unknown;
  readonly signature: string;
}

/** Signed reasoning that the case gives as parts, of the provider that it may go to. */
const givenSigned = (run: Run): readonly Signed[] =>
  [...run.talk.given.values()].flatMap(({ content }) =>
    (isList(content) ? content.filter(isFields) : []).flatMap((part) => {
      const { signature, provider, text } = part as {
        readonly signature?: unknown;
        readonly provider?: unknown;
        readonly text?: unknown;
      };
      const isOwn = provider === undefined || provider === run.evidence.profile.provider;
      return typeof signature === 'string' && isOwn ? [{ text, signature }] : [];
    }),
  );

const misplaced = (run: Run, plan: ContextPlan): string | undefined => {
  const sent = signedIn(wireOf(plan));
  return firstWrong(givenSigned(run), ({ text, signature }) => {
    const block = sent.find((one) => one['signature'] === signature);
    if (block === undefined) return undefined;
    return block['thinking'] === text || block['text'] === text
      ? undefined
      : `the block signed ${signature} has another text`;
  });
};

export const byteEqualSignedBlocks: Check = ofPlan((plan, { run }) => {
  if (!isProvider(run)) return misplaced(run, plan);
  const texts = (value: unknown): readonly string[] =>
    signedIn(value).map((block) => JSON.stringify(block));
  const [given, sent] = [texts(givenWire(run)), texts(wireMessages(wireOf(plan)))];
  if (given.length === 0) return 'no block is signed';
  return isEqual(given, sent) ? undefined : `signed blocks went out as ${shown(sent)}`;
});

const sharedOrder = (a: Fields, b: Fields): boolean => {
  const kept = (keys: readonly string[], other: Fields): readonly string[] =>
    keys.filter((key) => Object.hasOwn(other, key));
  return isEqual(kept(Object.keys(a), b), kept(Object.keys(b), a));
};

const keysMoved = (given: unknown, sent: unknown, at: string): string | undefined => {
  if (isList(given) && isList(sent)) {
    return firstWrong(given.entries(), ([index, item]) =>
      keysMoved(item, sent[index], `${at}/${String(index)}`),
    );
  }
  if (!isFields(given) || !isFields(sent)) return undefined;
  if (!sharedOrder(given, sent)) return `the keys at ${at} are in another order`;
  return firstWrong(Object.entries(given), ([key, entry]) =>
    keysMoved(entry, sent[key], `${at}/${key}`),
  );
};

export const keyOrderOfInputKept: Check = ofPlan((plan, { run }) =>
  isProvider(run)
    ? keysMoved(givenWire(run), wireMessages(wireOf(plan)), '')
    : 'only provider messages have an order of keys',
);

const signatureOf = (part: unknown): string | undefined => {
  if (!isFields(part)) return undefined;
  for (const key of ['thoughtSignature', 'signature']) {
    const value = part[key];
    if (typeof value === 'string') return value;
  }
  return undefined;
};

const signatures = (list: readonly Fields[]): readonly (readonly (string | null)[])[] =>
  list.map((message) => contentOf(message).map((part) => signatureOf(part) ?? null));

export const signatureStaysOnSamePart: Check = ofPlan((plan, { run }) => {
  if (!isProvider(run)) return misplaced(run, plan);
  const [given, sent] = [signatures(givenWire(run)), signatures(wireMessages(wireOf(plan)))];
  return isEqual(given, sent) ? undefined : `${shown(given)} went out as ${shown(sent)}`;
});

const isCall = (part: unknown): boolean =>
  isFields(part) && (part['type'] === 'tool_use' || isFields(part['functionCall']));

const laterCalls = (list: readonly Fields[]): readonly (string | null)[] =>
  list.flatMap((message) =>
    contentOf(message)
      .filter(isCall)
      .slice(1)
      .map((part) => signatureOf(part) ?? null),
  );

export const secondParallelCallHasNoSignature: Check = ofPlan((plan, { run }) => {
  const sent = laterCalls(wireMessages(wireOf(plan)));
  const given = isProvider(run) ? laterCalls(givenWire(run)) : sent.map(() => null);
  return isEqual(given, sent) ? undefined : 'a later parallel call has a signature of its own';
});

const countsOf = (values: readonly string[]): ReadonlyMap<string, number> => {
  const counts = new Map<string, number>();
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  return counts;
};

const allSignatures = (value: unknown): readonly string[] =>
  [...objectsIn(value)].flatMap((block) => signatureOf(block) ?? []);

/** What the documentation of a provider gives in place of a signature that is not there. */
const SKIP_VALUES: ReadonlySet<string> = new Set([
  'skip_thought_signature_validator',
  'context_engineering_is_the_way_to_go',
]);

export const realSignaturesNeverReplaced: Check = ofPlan((plan, { run }) => {
  const given = countsOf(allSignatures([run.input.wire, run.input.messages, run.input.events]));
  const sent = countsOf(allSignatures(wireOf(plan)).filter((value) => !SKIP_VALUES.has(value)));
  const odd = [...sent].find(([value, count]) => count > (given.get(value) ?? 0));
  return odd === undefined
    ? misplaced(run, plan)
    : `the signature ${odd[0]} is sent ${String(odd[1])} times`;
});
