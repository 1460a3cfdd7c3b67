import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

/** The folder that holds package.json. */
export const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '..');

const compiler = path.join(root, 'node_modules/@typescript/compiler/bin/tsc');

/**
 * One compiled tree: the tsconfig that emits it, what it is made from, where it goes, and which
 * folders of `outDir` belong to it (anything else in there is left alone).
 * @typedef {{ config: string, sources: string[], outDir: string, owned: string[] }} Target
 */

/** @type {Target} */
export const library = {
  config: 'tsconfig.build.json',
  sources: ['src'],
  outDir: 'dist',
  owned: ['.'],
};

/** @type {Target} */
export const harness = {
  config: 'tsconfig.harness.json',
  sources: ['src', 'prove', 'harness', 'test/support'],
  outDir: '.build',
  owned: ['src', 'prove', 'harness', 'test'],
};

/** @type {(folder: string) => string[]} */
const filesBelow = (folder) => {
  if (!fs.existsSync(folder)) return [];
  return fs
    .readdirSync(folder, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile())
    .map((entry) => path.join(entry.parentPath, entry.name));
};

/** @type {(target: Target) => string} */
const stampOf = (target) => path.join(root, '.build', `${target.config}.stamp`);

/**
 * What the result depends on: name, size and time of every source, so that a deleted or a
 * backdated file counts as a change too.
 * @type {(target: Target) => string}
 */
const fingerprint = (target) => {
  const settings = ['package.json', 'tsconfig.json', target.config].map((name) =>
    path.join(root, name),
  );
  const sources = target.sources.flatMap((name) => filesBelow(path.join(root, name)));
  return [...settings, ...sources.sort()]
    .map((file) => {
      const stats = fs.statSync(file, { throwIfNoEntry: false });
      return `${path.relative(root, file)} ${String(stats?.size)} ${String(stats?.mtimeMs)}`;
    })
    .join('\n');
};

/** @type {(from: string, to: string) => void} */
const replaceIfDifferent = (from, to) => {
  const isSame = fs.existsSync(to) && fs.readFileSync(from).equals(fs.readFileSync(to));
  if (isSame) return;
  fs.mkdirSync(path.dirname(to), { recursive: true });
  fs.renameSync(from, to);
};

/**
 * Moves a fresh tree over the old one file by file. Whoever runs the old files meanwhile never
 * meets a half-written one, and what no source makes any more goes away.
 * @type {(fresh: string, target: Target) => void}
 */
const publish = (fresh, target) => {
  const outDir = path.join(root, target.outDir);
  const made = new Set(filesBelow(fresh).map((file) => path.relative(fresh, file)));
  for (const name of made) replaceIfDifferent(path.join(fresh, name), path.join(outDir, name));
  for (const file of target.owned.flatMap((name) => filesBelow(path.join(outDir, name)))) {
    if (!made.has(path.relative(outDir, file))) fs.rmSync(file, { force: true });
  }
};

/** @type {(target: Target) => boolean} */
const isFresh = (target) => {
  const stamp = stampOf(target);
  const isThere = fs.existsSync(stamp) && fs.existsSync(path.join(root, target.outDir));
  return isThere && fs.readFileSync(stamp, 'utf8') === fingerprint(target);
};

/**
 * Compiles a target. Answers whether the compiler had nothing to say; with type errors the files
 * are written all the same, and the next call compiles again.
 * @type {(target: Target) => boolean}
 */
export const compile = (target) => {
  const before = fingerprint(target);
  fs.mkdirSync(path.join(root, '.build'), { recursive: true });
  // As deep as `outDir`, since source maps hold relative paths.
  const fresh = fs.mkdtempSync(path.join(root, '.fresh-'));
  try {
    const args = [compiler, '-p', target.config, '--outDir', fresh];
    const result = spawnSync(process.execPath, args, { cwd: root, encoding: 'utf8' });
    process.stderr.write(`${result.stdout}${result.stderr}`);
    publish(fresh, target);
    const isClean = result.status === 0;
    if (isClean) fs.writeFileSync(stampOf(target), before);
    return isClean;
  } finally {
    fs.rmSync(fresh, { recursive: true, force: true });
  }
};

/**
 * The same, unless nothing changed since the last clean run.
 * @type {(target: Target) => boolean}
 */
export const compileIfChanged = (target) => isFresh(target) || compile(target);
