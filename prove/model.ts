import fs from 'node:fs';
import os from 'node:os';
import { Worker } from 'node:worker_threads';
import { atLeast, exactly, say, type Claim, type Measure } from './claim.js';
import { commandTable } from '../src/domain/decide/decision.js';
import type { Divergence } from './model/sequence.js';
import type { Share, ShareResult } from './model/share.js';
import { inProject } from './support/project.js';
import { seedOf } from './support/random.js';

const SEQUENCES = 20_000;
const SEQUENCES_ON_SQLITE = 2_000;
const seedFile = inProject('prove', 'model', 'seeds.json');

/** Seeds that once found something: they are run first, for ever. */
const keptSeeds = (): readonly number[] => {
  const kept: unknown = fs.existsSync(seedFile)
    ? JSON.parse(fs.readFileSync(seedFile, 'utf8'))
    : [];
  return Array.isArray(kept) ? kept.filter((seed) => typeof seed === 'number') : [];
};

const keepSeeds = (found: readonly number[]): void => {
  const all = [...new Set([...keptSeeds(), ...found])].slice(-500);
  fs.writeFileSync(seedFile, `${JSON.stringify(all)}\n`);
};

const runShare = (share: Share): Promise<ShareResult> =>
  new Promise((resolve, reject) => {
    const worker = new Worker(new URL('./model/worker.js', import.meta.url), { workerData: share });
    worker.once('message', resolve);
    worker.once('error', reject);
  });

/** Seeds in turns, so that each worker has an equal part of every kind. */
const dealt = (seeds: readonly number[], workers: number, index: number): readonly number[] =>
  seeds.filter((_seed, at) => at % workers === index);

// What a command of the engine is called in the steps of a sequence.
const stepOf: Readonly<Partial<Record<keyof typeof commandTable, string>>> = {
  start: 'start',
  registerBranch: 'fork',
  openBranch: 'fork',
  label: 'label',
  promote: 'promote',
  redact: 'redact',
  annotate: 'annotate',
  close: 'close',
  reopen: 'reopen',
  seal: 'close',
  append: 'append',
  reviseInstructions: 'instructions',
  changeStatus: 'status',
  withdraw: 'withdraw',
  request: 'request',
  complete: 'complete',
  fail: 'fail',
  claim: 'claim',
  endTurn: 'endTurn',
  startTool: 'startTool',
  abandonCall: 'abandon',
  requestApproval: 'ask',
  resolveApproval: 'resolve',
  compact: 'compact',
  revertCompaction: 'undo',
  merge: 'merge',
};

/** Commands of importers, which the tests of imports run against the tables of each format. */
const ELSEWHERE: readonly string[] = ['startImport', 'completeImport', 'import'];

const commandsNotGiven = (counts: ReadonlyMap<string, number>): readonly string[] =>
  Object.keys(commandTable).filter((name) => {
    const step = stepOf[name as keyof typeof commandTable];
    if (ELSEWHERE.includes(name)) return false;
    const given = step === undefined ? 0 : (counts.get(`${step} done`) ?? 0);
    return given + (step === undefined ? 0 : (counts.get(`${step} replayed`) ?? 0)) === 0;
  });

const total = (results: readonly ShareResult[]): Map<string, number> => {
  const counts = new Map<string, number>();
  for (const result of results) {
    for (const [name, count] of result.counts) counts.set(name, (counts.get(name) ?? 0) + count);
  }
  return counts;
};

const report = (divergences: readonly Divergence[]): void => {
  for (const { seed, step, given, difference } of divergences.slice(0, 20)) {
    say(`seed ${seed} step ${step}: ${JSON.stringify(given)}`);
    say(`  ${difference.what}`);
    say(`  naive:  ${JSON.stringify(difference.naive)}`);
    say(`  engine: ${JSON.stringify(difference.engine)}`);
  }
};

const sum = (results: readonly ShareResult[], of: (result: ShareResult) => number): number =>
  results.reduce((before, result) => before + of(result), 0);

const measuresOf = (
  results: readonly ShareResult[],
  wanted: { readonly memory: number; readonly sqlite: number },
): readonly Measure[] => {
  const counts = total(results);
  for (const [name, count] of [...counts].sort(([a], [b]) => (a < b ? -1 : 1))) {
    say(`${name}: ${count}`);
  }
  const missing = commandsNotGiven(counts);
  if (missing.length > 0) say(`commands never accepted: ${missing.join(', ')}`);
  const sequences = sum(results, (result) => result.memory + result.sqlite);
  const steps = sum(results, (result) => result.steps);
  return [
    exactly(
      'divergences',
      sum(results, (result) => result.divergences.length),
      0,
    ),
    atLeast('sequences', sequences, wanted.memory + wanted.sqlite),
    atLeast(
      'sequences on SQLite',
      sum(results, (result) => result.sqlite),
      wanted.sqlite,
    ),
    atLeast('commands a sequence', Math.floor(steps / Math.max(1, sequences)), 30),
    exactly('commands of the table never accepted', missing.length, 0),
  ];
};

/**
 * Random sequences of commands by two handles, against a model that is written apart from the
 * engine: no answer, history, session or context may differ.
 */
export const claim: Claim = {
  id: 'model',
  run: async ({ seed, n = SEQUENCES }) => {
    const sqlite = Math.ceil((n * SEQUENCES_ON_SQLITE) / SEQUENCES);
    const memory = n - sqlite;
    const kept = keptSeeds();
    const seeds = Array.from({ length: n }, (_item, index) => seedOf(seed, index));
    const workers = Math.max(1, Math.min(os.availableParallelism(), n));
    const shares = Array.from({ length: workers }, (_item, index): Share => ({
      memory: [...dealt(kept, workers, index), ...dealt(seeds.slice(0, memory), workers, index)],
      sqlite: dealt(seeds.slice(memory), workers, index),
    }));
    const results = await Promise.all(shares.map(runShare));
    const divergences = results.flatMap((result) => result.divergences);
    report(divergences);
    if (divergences.length > 0) keepSeeds(divergences.slice(0, 20).map((one) => one.seed));
    return { measures: measuresOf(results, { memory, sqlite }) };
  },
};
