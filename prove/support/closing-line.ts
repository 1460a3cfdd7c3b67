/** The counts of a command whose last line is `N passed, N failed` or adds `, N skipped`. */
export interface Counts {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
}

/** The counts of the last such line; undefined when there is none. */
export const closingCounts = (output: string): Counts | undefined => {
  const lines = output.trimEnd().split('\n');
  const found = /(\d+) passed, (\d+) failed(?:, (\d+) skipped)?/.exec(lines.at(-1) ?? '');
  return found === null
    ? undefined
    : { passed: Number(found[1]), failed: Number(found[2]), skipped: Number(found[3] ?? 0) };
};
