// Checks the direction of imports, and that the check itself looks at every file and finds faults.
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { root } from './compile.mjs';

/**
 * The part of dependency-cruiser's report that is read here.
 * @typedef {{ from: string, to: string, rule: { name: string } }} Violation
 * @typedef {{ modules: { source: string }[], summary: { violations: Violation[] } }} Report
 */

const canary = 'src/domain/__canary__.ts';
const canaryInInfra = 'src/infra/__canary__.ts';
const expectedRules = [
  'domain-knows-only-domain',
  'pure-layers-use-no-node-module',
  'pure-layers-use-few-packages',
  'one-file-knows-the-sqlite-driver',
  'no-cycles',
];

/** @type {() => string[]} */
const sources = () =>
  fs
    .readdirSync(path.join(root, 'src'), { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith('.ts'))
    .map((entry) => path.relative(root, path.join(entry.parentPath, entry.name)));

/** @type {() => Report} */
const cruise = () => {
  const cruiser = path.join(root, 'node_modules/dependency-cruiser/bin/dependency-cruise.mjs');
  const args = [cruiser, 'src', '--config', '.dependency-cruiser.cjs', '--output-type', 'json'];
  const result = spawnSync(process.execPath, args, {
    cwd: root,
    encoding: 'utf8',
    maxBuffer: 1 << 30,
  });
  try {
    return JSON.parse(result.stdout);
  } catch {
    throw new Error(`dependency-cruiser gave no report:\n${result.stderr}`);
  }
};

/** @type {() => string[]} */
const faultsInSources = () => {
  const files = sources();
  const { modules, summary } = cruise();
  const seen = new Set(modules.map((module) => module.source));
  const missed = files.filter((file) => !seen.has(file) && fs.existsSync(path.join(root, file)));
  process.stdout.write(`${String(seen.size)} modules for ${String(files.length)} source files\n`);
  return [
    ...(files.length === 0 ? ['there are no source files'] : []),
    ...missed.map((file) => `not looked at: ${file}`),
    ...summary.violations.map(({ rule, from, to }) => `${rule.name}: ${from} -> ${to}`),
  ];
};

const removeCanaries = () => {
  for (const file of [canary, canaryInInfra]) fs.rmSync(path.join(root, file), { force: true });
};

/** @type {() => string[]} */
const faultsOfTheCheck = () => {
  for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, removeCanaries);
  try {
    const imports = ['../infra/__canary__.js', './__canary__.js', 'node:fs', 'commander'];
    const lines = [...imports, '@photostructure/sqlite'].map((name) => `import '${name}';\n`);
    fs.mkdirSync(path.join(root, 'src/infra'), { recursive: true });
    fs.writeFileSync(path.join(root, canaryInInfra), 'export {};\n');
    fs.writeFileSync(path.join(root, canary), lines.join(''));
    const planted = cruise().summary.violations.filter(({ from }) => from === canary);
    const found = new Set(planted.map(({ rule }) => rule.name));
    return expectedRules
      .filter((rule) => !found.has(rule))
      .map((rule) => `the planted violation of ${rule} was not found`);
  } finally {
    removeCanaries();
  }
};

removeCanaries();
const faults = [...faultsInSources(), ...faultsOfTheCheck()];
for (const fault of faults) process.stdout.write(`${fault}\n`);
process.stdout.write(
  faults.length === 0
    ? `no violations; all ${String(expectedRules.length)} planted ones were found\n`
    : `${String(faults.length)} faults\n`,
);
process.exitCode = faults.length === 0 ? 0 : 1;
