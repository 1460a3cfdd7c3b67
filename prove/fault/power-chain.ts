import fs from 'node:fs';
import path from 'node:path';
import { runProgram } from '../support/processes.js';
import { randomOf, seedOf } from '../support/random.js';
import { acksOf, type Acks } from './acks.js';
import { applyRecord, diskOf, treeAfterCut, type Tree } from './disk.js';
import { inspect } from './inspect.js';
import { ioRecords, KIND, type IoRecord } from './io-records.js';
import { ordersEnv, type Orders } from './orders.js';
import { writeTree } from './tree-folder.js';
import { workerArguments } from './worker.js';

export interface PowerOrders {
  readonly shim: string;
  /** An empty folder for all that is made. */
  readonly folder: string;
  readonly seed: number;
  /** `off`: no file of the database is synced. */
  readonly sync: 'full' | 'normal' | 'off';
  /** Each generation works on a state that a cut of the one before left behind. */
  readonly generations: number;
  /** States that are rebuilt of each generation. */
  readonly states: number;
  readonly steps: number;
}

export interface State {
  readonly generation: number;
  readonly cut: number;
  readonly records: number;
  readonly acks: number;
  readonly wrong: readonly string[];
}

interface Start {
  readonly tree: Tree;
  readonly acks: Acks;
}

/** Runs an application on the tree, and gives all that it did to its files. */
const record = async (
  { shim, folder, seed, sync, steps }: PowerOrders,
  generation: number,
  { tree }: Start,
): Promise<readonly IoRecord[]> => {
  const run = path.join(folder, `run-${generation}`);
  const place = { root: path.join(run, 'root'), log: path.join(run, 'log') };
  const acks = path.join(run, 'acks');
  writeTree(place.root, tree);
  const orders: Orders = {
    store: path.join(place.root, 'store'),
    seed: seedOf(seed, generation),
    name: `g${generation}`,
    steps,
    sync: sync === 'normal' ? 'normal' : 'full',
    ackTime: 'answered',
    acks,
  };
  const env = {
    ...ordersEnv(orders),
    LD_PRELOAD: shim,
    STEMMA_IO_ROOT: place.root,
    STEMMA_IO_LOG: place.log,
    STEMMA_IO_MARKS: acks,
    UV_USE_IO_URING: '0',
    ...(sync === 'off' ? { STEMMA_IO_NO_SYNC: '1' } : {}),
  };
  const { code, stderr } = await runProgram(process.execPath, workerArguments('driver'), {
    env,
  });
  if (code !== 0) throw new Error(`the application ended with ${String(code)}: ${stderr}`);
  const records = ioRecords(fs.readFileSync(place.log));
  fs.rmSync(run, { recursive: true, force: true });
  return records;
};

const linesOf = (records: readonly IoRecord[]): readonly string[] =>
  Buffer.concat(records.filter(({ kind }) => kind === KIND.mark).map(({ first }) => first))
    .toString()
    .split('\n');

/** Rebuilds states of one generation and tells each. One of them starts the next generation. */
const replay = async (
  orders: PowerOrders,
  generation: number,
  start: Start,
  tell: (state: State) => void,
): Promise<Start> => {
  const records = await record(orders, generation, start);
  const random = randomOf(seedOf(orders.seed, generation + 1_000));
  const cuts = Array.from({ length: orders.states }, () => random.below(records.length + 1));
  const chosen = random.below(cuts.length);
  const disk = diskOf(start.tree);
  let next = start;
  let done = 0;
  for (const [index, cut] of cuts.sort((a, b) => a - b).entries()) {
    for (const one of records.slice(done, cut)) applyRecord(disk, one);
    done = cut;
    const tree = treeAfterCut(disk, random);
    const acks = acksOf(linesOf(records.slice(0, cut)), start.acks);
    if (index === chosen) next = { tree, acks };
    const place = path.join(orders.folder, `state-${generation}-${index}`);
    writeTree(place, tree);
    const { wrong } = await inspect(path.join(place, 'store'), acks);
    tell({ generation, cut, records: records.length, acks: acks.size, wrong });
    fs.rmSync(place, { recursive: true, force: true });
    // The driver keeps a closed connection, and its files, until its statements are collected.
    if (index % 8 === 0) globalThis.gc?.();
  }
  return next;
};

/** Generations of an application, each of which a power cut ends. */
export const powerChain = async (
  orders: PowerOrders,
  tell: (state: State) => void,
): Promise<void> => {
  let start: Start = { tree: new Map(), acks: new Map() };
  for (let generation = 0; generation < orders.generations; generation += 1) {
    start = await replay(orders, generation, start, tell);
  }
};
