import fs from 'node:fs';
import path from 'node:path';
import * as E from 'fp-ts/lib/Either.js';
import { openEngine } from '../src/open.js';
import { sqliteStores, type SqliteStores } from '../src/infra/stores/sqlite/sqlite-store.js';
import { atLeast, exactly, say, type Claim } from './claim.js';
import { noteAck, type Acks } from './fault/acks.js';
import { inspect } from './fault/inspect.js';
import { startLoad, type Load } from './fault/load.js';
import { value } from './support/engine.js';
import { runProgram } from './support/processes.js';
import { randomOf, seedOf } from './support/random.js';
import { withTempFolder } from './support/temp.js';

const BACKUPS = 100;
const LOADS = 2;

const acksOf = (loads: readonly Load[]): Acks => {
  const acks = new Map<string, ReturnType<Acks['get']> & object>();
  for (const load of loads) for (const ack of load.acks.values()) noteAck(acks, ack);
  return acks;
};

/** What came of one backup and of one plain copy of the file, made at the same time. */
interface Tried {
  readonly wrong: readonly string[];
  readonly events: number;
  /** How the copy without its log was answered. */
  readonly naive: string;
  /** What is missing from the copy, when it is opened all the same. */
  readonly naiveWrong: readonly string[];
}

/** A folder for a copy, with the keys that a store needs beside it. */
const folderFor = (store: string, folder: string): string => {
  fs.cpSync(path.join(store, 'keys'), path.join(folder, 'keys'), { recursive: true });
  return folder;
};

const COPY = 'const [from, to] = process.argv.slice(1); fs.copyFileSync(from, to);';

/** Copies the file alone, in another process: to close a file drops the locks of this one on it. */
const copyNaively = async (file: string, target: string): Promise<void> => {
  const { code, stderr } = await runProgram(process.execPath, ['-e', COPY, file, target]);
  if (code !== 0) throw new Error(stderr);
};

const tagOfOpening = async (store: string): Promise<string> => {
  const engine = await openEngine({ store })();
  if (E.isLeft(engine)) return engine.left._tag;
  await value(engine.right.runtime.events.close());
  return 'opened';
};

const tryOne = async (
  stores: SqliteStores,
  store: string,
  place: string,
  loads: readonly Load[],
): Promise<Tried> => {
  const acks = acksOf(loads);
  const copy = folderFor(store, path.join(place, 'backup'));
  const made = await stores.backup(path.join(copy, 'store.db'))();
  if (E.isLeft(made)) {
    const wrong = [`no backup: ${JSON.stringify(made.left)}`];
    return { wrong, events: 0, naive: '', naiveWrong: [] };
  }
  const beside = fs.readdirSync(copy).filter((name) => name !== 'keys' && name !== 'store.db');
  const { wrong, events } = await inspect(copy, acks);
  const naive = folderFor(store, path.join(place, 'naive'));
  const naiveAcks = acksOf(loads);
  await copyNaively(stores.file, path.join(naive, 'store.db'));
  const answer = await tagOfOpening(naive);
  const { wrong: naiveWrong } = await inspect(naive, naiveAcks, { salvage: true });
  const left = beside.map((name) => `left beside the backup: ${name}`);
  return { wrong: [...wrong, ...left], events, naive: answer, naiveWrong };
};

const countOf = (tried: readonly Tried[], isSo: (one: Tried) => boolean): number =>
  tried.filter(isSo).length;

/** G15: a backup made under load is whole and opens; a copy of the file alone is refused. */
export const claim: Claim = {
  id: 'backup',
  run: ({ seed, n = BACKUPS }) =>
    withTempFolder('backup', async (folder) => {
      const store = path.join(folder, 'store');
      const engine = await value(openEngine({ store }));
      await value(engine.runtime.events.close());
      const stores = await value(sqliteStores({ path: store }));
      const loads = await Promise.all(
        Array.from({ length: LOADS }, (_item, at) =>
          startLoad(store, `load-${at}`, randomOf(seedOf(seed, at))),
        ),
      );
      const tried: Tried[] = [];
      for (let at = 0; at < n; at += 1) {
        const place = path.join(folder, `copies-${at}`);
        tried.push(await tryOne(stores, store, place, loads));
        fs.rmSync(place, { recursive: true, force: true });
      }
      for (const load of loads) await load.stop();
      await value(stores.events.close());
      const errors = loads.flatMap((load) => load.errors);
      for (const text of [...tried.flatMap(({ wrong }) => wrong), ...errors].slice(0, 5)) say(text);
      say(`events in the first and the last backup: ${tried[0]?.events}, ${tried.at(-1)?.events}`);
      const lossy = countOf(tried, ({ naiveWrong }) => naiveWrong.length > 0);
      return {
        measures: [
          exactly(
            'backups that restore and verify',
            countOf(tried, ({ wrong }) => wrong.length === 0),
            n,
          ),
          exactly(
            'copies without the log refused as such',
            countOf(tried, ({ naive }) => naive === 'WalMissing'),
            n,
          ),
          exactly('writers that failed', errors.length, 0),
          atLeast(
            'sensitivity: percent of those copies that the check flags',
            Math.round((100 * lossy) / n),
            50,
          ),
        ],
      };
    }),
};
