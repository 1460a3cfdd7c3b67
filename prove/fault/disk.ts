import path from 'node:path';
import type { Random } from '../support/random.js';
import { KIND, type IoRecord } from './io-records.js';

/** Files and folders below a root, by their path there. */
export type Tree = ReadonlyMap<string, Buffer | 'folder'>;

const SECTOR_BYTES = 512;

type Change =
  | { readonly order: number; readonly at: number; readonly bytes: Buffer }
  | { readonly order: number; readonly length: number };

interface Inode {
  /** What a sync has made safe. */
  synced: Buffer;
  unsynced: Change[];
}

type Entry = Inode | 'folder' | undefined;

/** Names of one folder that changed in one call. */
interface Renaming {
  readonly order: number;
  readonly folder: string;
  readonly entries: readonly (readonly [name: string, entry: Entry])[];
}

/**
 * A disk with a cache that forgets: content is safe once its file was synced, a name once its
 * folder was. Stricter than most file systems, which keep more in order than they must.
 */
export interface Disk {
  readonly files: Map<number, Inode>;
  /** Names as the process sees them. */
  readonly names: Map<string, Entry>;
  readonly syncedNames: Map<string, Entry>;
  unsyncedNames: Renaming[];
  order: number;
}

const inodeOf = (synced: Buffer): Inode => ({ synced, unsynced: [] });

/** A disk on which all of this is safe. */
export const diskOf = (tree: Tree): Disk => {
  const names = new Map<string, Entry>();
  for (const [name, content] of tree) {
    names.set(name, content === 'folder' ? content : inodeOf(Buffer.from(content)));
  }
  return { files: new Map(), names, syncedNames: new Map(names), unsyncedNames: [], order: 0 };
};

const resized = (content: Buffer, length: number): Buffer => {
  if (length <= content.length) return content.subarray(0, length);
  return Buffer.concat([content, Buffer.alloc(length - content.length)]);
};

const written = (content: Buffer, at: number, bytes: Buffer): Buffer => {
  const target = resized(content, Math.max(content.length, at + bytes.length));
  bytes.copy(target, at);
  return target;
};

const changed = (content: Buffer, change: Change): Buffer =>
  'length' in change ? resized(content, change.length) : written(content, change.at, change.bytes);

const setEntries = (names: Map<string, Entry>, { entries }: Renaming): void => {
  for (const [name, entry] of entries) {
    if (entry === undefined) names.delete(name);
    else names.set(name, entry);
  }
};

const rename = (disk: Disk, ...entries: Renaming['entries']): void => {
  const folder = path.dirname(entries[0]?.[0] ?? '.');
  const renaming = { order: disk.order, folder, entries };
  setEntries(disk.names, renaming);
  disk.unsyncedNames.push(renaming);
};

const fileOf = (disk: Disk, number: number): Inode => {
  const inode = disk.files.get(number);
  if (inode === undefined) throw new Error(`the log knows no file ${String(number)}`);
  return inode;
};

const openFile = (disk: Disk, isNew: boolean, name: string): void => {
  const known = isNew ? undefined : disk.names.get(name);
  if (known === 'folder' || (!isNew && known === undefined)) {
    throw new Error(`the log found ${name}, which is not there`);
  }
  const inode = known ?? inodeOf(Buffer.alloc(0));
  disk.files.set(disk.files.size + 1, inode);
  if (isNew) rename(disk, [name, inode]);
};

const syncFile = (inode: Inode): void => {
  for (const change of inode.unsynced) inode.synced = changed(inode.synced, change);
  inode.unsynced = [];
};

const syncFolder = (disk: Disk, folder: string): void => {
  for (const one of disk.unsyncedNames) {
    if (one.folder === folder) setEntries(disk.syncedNames, one);
  }
  disk.unsyncedNames = disk.unsyncedNames.filter((one) => one.folder !== folder);
};

/** Does to the disk what the process did. */
export const applyRecord = (disk: Disk, record: IoRecord): void => {
  disk.order += 1;
  const { order, names } = disk;
  const { kind, file, at, first: bytes } = record;
  const [first, second] = kind === KIND.write ? ['', ''] : [String(bytes), String(record.second)];
  if (kind === KIND.fileFound) openFile(disk, false, first);
  else if (kind === KIND.fileMade) openFile(disk, true, first);
  else if (kind === KIND.write) fileOf(disk, file).unsynced.push({ order, at, bytes });
  else if (kind === KIND.truncate) fileOf(disk, file).unsynced.push({ order, length: at });
  else if (kind === KIND.sync) syncFile(fileOf(disk, file));
  else if (kind === KIND.syncFolder) syncFolder(disk, first);
  else if (kind === KIND.link) rename(disk, [second, names.get(first)]);
  else if (kind === KIND.rename) rename(disk, [first, undefined], [second, names.get(first)]);
  else if (kind === KIND.unlink || kind === KIND.removeFolder) rename(disk, [first, undefined]);
  else if (kind === KIND.makeFolder) rename(disk, [first, 'folder']);
};

/** What becomes of one change that was not synced. */
type Fate = 'kept' | 'lost' | 'torn';

interface Cut {
  readonly random: Random;
  readonly fateOf: (order: number) => Fate;
  /** Percent of lost writes behind the end of a file that leave their room, with other content. */
  readonly growth: number;
}

const unsyncedOrders = ({ files, unsyncedNames }: Disk): readonly number[] =>
  [...unsyncedNames, ...[...files.values()].flatMap(({ unsynced }) => unsynced)].map(
    ({ order }) => order,
  );

/** The ways in which a cut may go; the last one, any subset, is by far the commonest. */
const cutOf = (disk: Disk, random: Random): Cut => {
  const way = random.below(10);
  if (way === 0) return { random, growth: 0, fateOf: () => 'lost' };
  if (way === 1) return { random, growth: 0, fateOf: () => 'kept' };
  if (way <= 3) {
    const last = random.any(unsyncedOrders(disk)) ?? disk.order;
    const fateOf = (order: number): Fate =>
      order === last ? 'torn' : order < last ? 'kept' : 'lost';
    return { random, growth: 0, fateOf };
  }
  const share = random.pick([10, 30, 50, 70, 90]);
  const fateOf = (): Fate =>
    random.chance(share) ? (random.chance(25) ? 'torn' : 'kept') : 'lost';
  return { random, growth: 15, fateOf };
};

const tear = (content: Buffer, at: number, bytes: Buffer, random: Random): Buffer => {
  let torn = content;
  for (let from = 0; from < bytes.length;) {
    const to = Math.min(bytes.length, from + SECTOR_BYTES - ((at + from) % SECTOR_BYTES));
    if (random.chance(50)) torn = written(torn, at + from, bytes.subarray(from, to));
    from = to;
  }
  return torn;
};

const grown = (content: Buffer, end: number, random: Random): Buffer => {
  if (end <= content.length) return content;
  const garbage = random.chance(50)
    ? Buffer.alloc(end - content.length)
    : Buffer.from(random.bytes(end - content.length));
  return Buffer.concat([content, garbage]);
};

const contentAfter = (inode: Inode, { random, fateOf, growth }: Cut): Buffer => {
  let content: Buffer = Buffer.from(inode.synced);
  for (const change of inode.unsynced) {
    const fate = fateOf(change.order);
    if (fate === 'kept') content = changed(content, change);
    else if ('length' in change) continue;
    else if (fate === 'torn') content = tear(content, change.at, change.bytes, random);
    else if (random.chance(growth)) {
      content = grown(content, change.at + change.bytes.length, random);
    }
  }
  return content;
};

/** Names change in order within a folder: those up to the first that was lost are there. */
const namesAfter = (disk: Disk, { fateOf }: Cut): Map<string, Entry> => {
  const names = new Map(disk.syncedNames);
  const stopped = new Set<string>();
  for (const renaming of disk.unsyncedNames) {
    if (fateOf(renaming.order) !== 'kept') stopped.add(renaming.folder);
    if (!stopped.has(renaming.folder)) setEntries(names, renaming);
  }
  return names;
};

const isReachable = (names: ReadonlyMap<string, Entry>, name: string): boolean => {
  const folder = path.dirname(name);
  return folder === '.' || (names.get(folder) === 'folder' && isReachable(names, folder));
};

const SHARED_MEMORY_BYTES = 32_768;

/** A state that a power cut could leave now: any part of what was not synced, writes torn apart. */
export const treeAfterCut = (disk: Disk, random: Random): Tree => {
  const cut = cutOf(disk, random);
  const names = namesAfter(disk, cut);
  const tree = new Map<string, Buffer | 'folder'>();
  for (const [name, entry] of names) {
    if (entry === undefined || !isReachable(names, name)) continue;
    if (entry === 'folder') tree.set(name, entry);
    // It is mapped, so that no write of it is seen; any content may be found there afterwards.
    else if (name.endsWith('-shm')) tree.set(name, Buffer.from(random.bytes(SHARED_MEMORY_BYTES)));
    else tree.set(name, contentAfter(entry, cut));
  }
  return tree;
};
