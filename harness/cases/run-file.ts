import { idOf } from './read-case.js';
import { runCase, type Verdict } from './run-case.js';
import type { StoreName } from './words.js';

export interface CaseResult {
  readonly id: string;
  readonly verdict: Verdict;
}

/** Stores that a case runs on when nobody names others. */
export const defaultStores: readonly StoreName[] = ['memory', 'sqlite'];

/** The line of a case: `ok`, `FAIL` with the first difference, or `skip` with the reason. */
export const lineOf = ({ id, verdict }: CaseResult): string => {
  if (verdict._tag === 'ok') return `ok ${id}`;
  return verdict._tag === 'skip' ? `skip ${id} ${verdict.why}` : `FAIL ${id} ${verdict.why}`;
};

export interface Totals {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
}

export const totalsOf = (results: readonly CaseResult[]): Totals => {
  const count = (tag: Verdict['_tag']): number =>
    results.filter(({ verdict }) => verdict._tag === tag).length;
  return { passed: count('ok'), failed: count('fail'), skipped: count('skip') };
};

export const closingLine = ({ passed, failed, skipped }: Totals): string =>
  `${String(passed)} passed, ${String(failed)} failed, ${String(skipped)} skipped`;

/** The cases of a file: a list. */
export const casesIn = (text: string): readonly unknown[] => {
  const list: unknown = JSON.parse(text);
  if (!Array.isArray(list)) throw new Error('the file holds no list of cases');
  return list;
};

/** Runs the cases one after the other; each result is told as soon as it is there. */
export const runCases = async (
  cases: readonly unknown[],
  tell: (result: CaseResult) => void,
  stores: readonly StoreName[] = defaultStores,
): Promise<readonly CaseResult[]> => {
  const results: CaseResult[] = [];
  for (const [index, one] of cases.entries()) {
    const result = { id: idOf(one, index), verdict: await runCase(one, stores) };
    results.push(result);
    tell(result);
  }
  return results;
};
