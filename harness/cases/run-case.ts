import { holds, neverHolds } from './compare.js';
import type { Expected, Variant } from './expected-shape.js';
import type { Change, Judged } from './invariants/judged.js';
import { checks } from './invariants/table.js';
import { readCase, skipOf, type Case, type CaseInput } from './read-case.js';
import type { Run, Steps } from './run.js';
import { runInput, type Opened } from './run-input.js';
import { Unreadable } from './shape.js';
import { shown } from './values.js';
import type { StoreName } from './words.js';

export type Verdict =
  | { readonly _tag: 'ok' }
  | { readonly _tag: 'fail'; readonly why: string }
  | { readonly _tag: 'skip'; readonly why: string };

const noSteps: Steps = { beforeFinish: [] };

const invariantsOf = async (judged: Judged): Promise<string | undefined> => {
  for (const name of judged.expected.invariants ?? []) {
    const wrong = await checks[name](judged);
    if (wrong !== undefined) return `${name}: ${wrong}`;
  }
  return undefined;
};

/** Fragments of the whole case: what a path has nothing of does not hold there. */
const inheritedNever = async (
  fragments: readonly Expected[],
  run: Run,
): Promise<string | undefined> => {
  for (const fragment of fragments) {
    const { isComparable, difference } = await neverHolds([fragment], run);
    if (isComparable && difference !== undefined) return difference;
  }
  return undefined;
};

interface Path {
  readonly input: CaseInput;
  readonly steps: Steps;
  readonly expected: Expected;
  /** Fragments of the whole case that may not hold here either. */
  readonly never: readonly Expected[];
}

/** One path of a case on a fresh store: what differs from what is expected. */
const judge = async (
  { input, steps, expected, never }: Path,
  store: StoreName,
  opened: Opened,
): Promise<string | undefined> => {
  const run = await runInput(input, store, steps, opened);
  const compared = await holds(expected, run, expected);
  if (compared.difference !== undefined) return compared.difference;
  const forbidden = await inheritedNever(never, run);
  if (forbidden !== undefined) return forbidden;
  const again = ({
    input: changed = (same) => same,
    store: other = store,
  }: Change = {}): Promise<Run> => runInput(changed(input), other, steps, opened);
  return invariantsOf({ run, expected, again });
};

const inputOf = (input: CaseInput, { operation, params }: Variant): CaseInput =>
  operation === undefined
    ? { ...input, params: { ...input.params, ...params } }
    : { ...input, operation, messages: [], wire: [], events: [], params: params ?? {} };

const stepsOf = ({ after, insert_before_finish: beforeFinish = [] }: Variant): Steps => ({
  ...(after === undefined ? {} : { after }),
  beforeFinish,
});

const pathsOf = ({ input, expected }: Case): readonly (Path & { readonly name: string })[] => [
  { name: '', input, steps: noSteps, expected, never: [] },
  ...(expected.variants ?? []).map((variant, index) => ({
    name: `variant ${String(index)}: `,
    input: inputOf(input, variant),
    steps: stepsOf(variant),
    expected: variant.expected,
    never: expected.never ?? [],
  })),
];

const judgeAll = async (one: Case, stores: readonly StoreName[]): Promise<string | undefined> => {
  for (const store of stores) {
    for (const path of pathsOf(one)) {
      const opened: Opened = [];
      try {
        const wrong = await judge(path, store, opened);
        if (wrong !== undefined) return `${path.name}${wrong} (${store})`;
      } finally {
        for (const dispose of opened) await dispose();
      }
    }
  }
  return undefined;
};

const reasonOf = (error: unknown): string => {
  if (error instanceof Unreadable) return error.message;
  return error instanceof Error ? `${error.name}: ${error.message}` : shown(error);
};

/** Runs one case on each of the stores. */
export const runCase = async (value: unknown, stores: readonly StoreName[]): Promise<Verdict> => {
  try {
    const one = readCase(value);
    const skip = skipOf(one);
    if (skip !== undefined) return { _tag: 'skip', why: skip };
    const wrong = await judgeAll(one, stores);
    return wrong === undefined ? { _tag: 'ok' } : { _tag: 'fail', why: wrong };
  } catch (error) {
    return { _tag: 'fail', why: reasonOf(error) };
  }
};
