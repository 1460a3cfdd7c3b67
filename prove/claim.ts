/** One number that a claim stands or falls with. `limit` says in words or numbers what is allowed. */
export interface Measure {
  readonly name: string;
  readonly value: number;
  readonly limit: string;
  readonly pass: boolean;
}

export interface ClaimOptions {
  readonly seed: number;
  /** How many runs; absent: what the claim is about. */
  readonly n?: number;
  /** Folders given with `--path`. */
  readonly paths: readonly string[];
}

/** What a claim gave: its measures, or why it could not be tried here. */
export interface Outcome {
  readonly measures: readonly Measure[];
  readonly skipped?: string;
}

/** Something that is said about the engine, with the run that shows it. */
export interface Claim {
  readonly id: string;
  readonly run: (options: ClaimOptions) => Promise<Outcome>;
}

export const atMost = (name: string, value: number, limit: number): Measure => ({
  name,
  value,
  limit: `<= ${limit}`,
  pass: value <= limit,
});

export const atLeast = (name: string, value: number, limit: number): Measure => ({
  name,
  value,
  limit: `>= ${limit}`,
  pass: value >= limit,
});

export const exactly = (name: string, value: number, limit: number): Measure => ({
  name,
  value,
  limit: `= ${limit}`,
  pass: value === limit,
});

/** Something that a reader tells the human about; stdout holds the one line of the result at its end. */
export const say = (text: string): void => {
  process.stderr.write(`${text}\n`);
};
