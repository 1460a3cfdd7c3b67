// Checks the package as a stranger gets it: packed, installed elsewhere, imported, type-checked.
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { root } from './compile.mjs';

const strictConsumer = {
  compilerOptions: {
    target: 'ES2022',
    lib: ['ES2023'],
    module: 'NodeNext',
    types: ['node'],
    strict: true,
    exactOptionalPropertyTypes: true,
    noUncheckedIndexedAccess: true,
    skipLibCheck: false,
    noEmit: true,
  },
  files: ['consumer.ts'],
};

/** @type {(title: string, cwd: string, command: string, args: string[]) => string} */
const run = (title, cwd, command, args) => {
  process.stdout.write(`   ${title}\n`);
  const result = spawnSync(command, args, { cwd, encoding: 'utf8' });
  if (result.status !== 0) {
    throw new Error(`${title} failed:\n${result.stdout}${result.stderr}`);
  }
  return result.stdout + result.stderr;
};

/** @type {(module: string) => string} */
const tool = (module) => path.join(root, 'node_modules', module);

/** @type {() => { name: string, exports: Record<string, unknown>, bin: Record<string, string> }} */
const readManifest = () => JSON.parse(fs.readFileSync(path.join(root, 'package.json'), 'utf8'));

/** @type {(folder: string) => string} */
const pack = (folder) => {
  run('npm pack', root, 'npm', ['pack', '--pack-destination', folder]);
  const tarball = fs.readdirSync(folder).find((name) => name.endsWith('.tgz'));
  if (tarball === undefined) throw new Error('npm pack wrote no tarball');
  return path.join(folder, tarball);
};

/** @type {(consumer: string, tarball: string) => void} */
const install = (consumer, tarball) => {
  fs.mkdirSync(consumer);
  const manifest = { name: 'consumer', private: true, type: 'module' };
  fs.writeFileSync(path.join(consumer, 'package.json'), JSON.stringify(manifest));
  const args = ['install', '--ignore-scripts', '--no-fund', '--no-audit', tarball];
  const output = run('install the tarball, without any install script', consumer, 'npm', args);
  if (/\bwarn/i.test(output)) throw new Error(`npm install warned:\n${output}`);
};

/**
 * What a consumer brings itself: the contract suite is run by its own vitest, whose types are its own
 * affair.
 */
const PEER = 'vitest';
const NEEDS_PEER = /\/testing$/;

/** @type {(consumer: string) => void} */
const bringPeer = (consumer) => {
  fs.symlinkSync(tool(PEER), path.join(consumer, 'node_modules', PEER), 'dir');
};

/** @type {(consumer: string, entries: string[]) => void} */
const load = (consumer, entries) => {
  for (const entry of entries) {
    run(`import ${entry}`, consumer, process.execPath, [
      '--input-type=module',
      '--eval',
      `await import('${entry}')`,
    ]);
  }
  const [first] = entries;
  if (NEEDS_PEER.test(String(first))) return;
  run(`require ${String(first)}`, consumer, process.execPath, [
    '--input-type=commonjs',
    '--eval',
    `require('${String(first)}')`,
  ]);
};

/** @type {(consumer: string, entries: string[]) => void} */
const typecheck = (consumer, entries) => {
  const lines = entries.map((entry, index) => `export * as entry${String(index)} from '${entry}';`);
  fs.writeFileSync(path.join(consumer, 'consumer.ts'), `${lines.join('\n')}\n`);
  fs.writeFileSync(path.join(consumer, 'tsconfig.json'), JSON.stringify(strictConsumer));
  fs.mkdirSync(path.join(consumer, 'node_modules/@types'), { recursive: true });
  for (const name of ['@types/node', 'undici-types']) {
    const target = path.join(consumer, 'node_modules', name);
    if (!fs.existsSync(target)) fs.cpSync(tool(name), target, { recursive: true });
  }
  run('type-check a strict consumer', consumer, process.execPath, [
    tool('@typescript/compiler/bin/tsc'),
    '-p',
    '.',
  ]);
};

const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'stemma-package-'));
try {
  const { name, exports, bin } = readManifest();
  const entries = Object.keys(exports)
    .filter((key) => key !== './package.json')
    .map((key) => path.posix.join(name, key));
  const tarball = pack(folder);
  const consumer = path.join(folder, 'consumer');
  install(consumer, tarball);
  const alone = entries.filter((entry) => !NEEDS_PEER.test(entry));
  load(consumer, alone);
  bringPeer(consumer);
  load(
    consumer,
    entries.filter((entry) => NEEDS_PEER.test(entry)),
  );
  for (const command of Object.keys(bin)) {
    const file = path.join(consumer, 'node_modules/.bin', command);
    run(`${command} --help`, consumer, file, ['--help']);
  }
  typecheck(consumer, alone);
  run('publint', root, process.execPath, [tool('publint/src/cli.js'), tarball, '--strict']);
  run('attw', root, process.execPath, [
    tool('@arethetypeswrong/cli/dist/index.js'),
    tarball,
    '--profile',
    'esm-only',
  ]);
  process.stdout.write(`the package is sound: ${String(entries.length)} entries\n`);
} catch (fault) {
  process.stdout.write(`${fault instanceof Error ? fault.message : String(fault)}\n`);
  process.exitCode = 1;
} finally {
  fs.rmSync(folder, { recursive: true, force: true });
}
