import type { Difference, DiffSide } from '../../../engine/differences.js';
import type { Stemma } from '../../../face/stemma-face.js';
import type { Invocation, Register } from '../invocation.js';
import type { Look, Result } from '../result.js';
import { idOf, listing, shortDigest, sideBySide, whatOf } from '../show.js';
import { locateCall } from '../targets.js';
import type { Column } from '../table.js';

const kinds = ['messages', 'context', 'payload', 'events'] as const;

/** Exit code of a difference that was asked for with `--exit-code`. */
const DIFFERENT = 10;

type Previews = ReadonlyMap<string, string>;

/** First words of every message on the branch of a side. */
const previewsOf = async (stemma: Stemma, side: DiffSide, look: Look): Promise<Previews> => {
  const branch = await stemma.open(`${side.conversation}/${side.branch}`);
  const { items, instructions, compactions } = await branch.surface();
  return new Map([
    ...instructions.map(({ messageId, text }): [string, string] => [messageId, text]),
    ...items.map(({ message }): [string, string] => [message.id, whatOf(message, look)]),
    ...compactions.flatMap(({ replacement }): [string, string][] =>
      replacement === undefined ? [] : [[replacement.id, whatOf(replacement, look)]],
    ),
  ]);
};

const sideName = ({ ref, branchName }: DiffSide): string =>
  ref.startsWith('c:') ? `${ref} (${branchName})` : ref;

const statLines = (
  found: Difference,
  names: ReadonlyMap<string, string>,
  look: Look,
): readonly string[] => {
  const { text, number } = look.words;
  const { a, b, same, changed, onlyA, onlyB, ancestor } = found;
  const tokens =
    a.tokens === undefined || b.tokens === undefined
      ? ''
      : text.tokensChanged(number(a.tokens), number(b.tokens), number(b.tokens - a.tokens));
  const digests =
    a.digest === undefined || b.digest === undefined
      ? ''
      : `${text.payloadDigest} ${shortDigest(a.digest)}… → ${shortDigest(b.digest)}…`;
  return [
    ancestor === undefined
      ? text.noAncestor
      : text.ancestor(
          idOf(names.get(ancestor.branch) ?? ancestor.branch),
          String(ancestor.revision),
        ),
    sideBySide(
      text.diffOf(found.of),
      text.diffStat(
        number(same.length),
        number(changed.length),
        number(onlyA.length),
        idOf(sideName(a)),
        number(onlyB.length),
        idOf(sideName(b)),
      ),
    ),
    ...(tokens === '' && digests === '' ? [] : [sideBySide(tokens, digests)]),
  ];
};

const columns = ({ words: { text } }: Look): readonly Column[] => [
  { header: '' },
  { header: text.id, max: 40 },
  { header: text.what, max: 100 },
];

const lines = (
  found: Difference,
  [inA, inB]: readonly [Previews, Previews],
): readonly (readonly string[])[] => {
  const { of, onlyA, onlyB, changed } = found;
  // The content of a payload entry and the reason of a context entry say what changed; a digest
  // does not.
  const isTold = of === 'payload' || of === 'context';
  return [
    ...changed.flatMap(({ id, a, b }) => [
      ['- ~', id, isTold ? a : (inA.get(id) ?? '')],
      ['+ ~', id, isTold ? b : (inB.get(id) ?? '')],
    ]),
    ...onlyA.map((id) => ['-', id, inA.get(id) ?? '']),
    ...onlyB.map((id) => ['+', id, inB.get(id) ?? '']),
  ];
};

/** `c:` with the beginning of an id becomes the whole id. */
const wholeRef = async (call: Invocation, stemma: Stemma, ref: string): Promise<string> =>
  ref.startsWith('c:') ? `c:${(await locateCall(call, stemma, ref)).id}` : ref;

const diff = async (call: Invocation): Promise<Result> => {
  const { options, look, args } = call;
  const of = options.choice('of', kinds) ?? 'messages';
  const stemma = await call.reader();
  const a = await wholeRef(call, stemma, args[0] ?? '');
  const b = await wholeRef(call, stemma, args[1] ?? '');
  const found = await stemma.diff(a, b, { of });
  const isStat = options.flag('stat');
  const previews: readonly [Previews, Previews] = isStat
    ? [new Map(), new Map()]
    : [await previewsOf(stemma, found.a, look), await previewsOf(stemma, found.b, look)];
  const branches = await stemma.branches(found.a.conversation);
  const names = new Map(branches.map(({ branch, name }) => [branch, name]));
  const isDifferent = !found.equal && options.flag('exit-code');
  return {
    name: 'diff',
    data: { ...found },
    text: () =>
      [
        ...statLines(found, names, look),
        ...(isStat || found.equal ? [] : [listing(look, columns(look), lines(found, previews))]),
      ].join('\n'),
    ...(isDifferent ? { exit: DIFFERENT } : {}),
  };
};

export const diffCommand: Register = ({ program, add }) => {
  add(program, {
    use: 'diff <a> <b>',
    key: 'diff',
    options: ['--of <kind>', '--stat', '--exit-code', '--in <ref>'],
    run: diff,
  });
};
