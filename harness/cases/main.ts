// npm run cases -- FILE [--store NAME ...]: runs the cases of a file, one line for each.
import fs from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { casesIn, closingLine, defaultStores, lineOf, runCases, totalsOf } from './run-file.js';
import { storeNames, type StoreName } from './words.js';

const USAGE = 'usage: npm run cases -- FILE [--store memory|sqlite|kurrent-like]\n';

const isStore = (name: string): name is StoreName =>
  (storeNames as readonly string[]).includes(name);

interface Asked {
  readonly file: string;
  readonly stores: readonly StoreName[];
}

const read = (args: readonly string[]): Asked | undefined => {
  try {
    const { positionals, values } = parseArgs({
      args: [...args],
      allowPositionals: true,
      options: { store: { type: 'string', multiple: true } },
    });
    const [file, ...rest] = positionals;
    const { store: stores = defaultStores } = values;
    return file === undefined || rest.length > 0 || !stores.every(isStore)
      ? undefined
      : { file, stores };
  } catch {
    return undefined;
  }
};

const run = async ({ file, stores }: Asked): Promise<number> => {
  const cases = casesIn(fs.readFileSync(path.resolve(file), 'utf8'));
  const results = await runCases(
    cases,
    (result) => {
      process.stdout.write(`${lineOf(result)}\n`);
    },
    stores,
  );
  const totals = totalsOf(results);
  process.stdout.write(`${closingLine(totals)}\n`);
  return totals.failed === 0 ? 0 : 1;
};

const asked = read(process.argv.slice(2));
if (asked === undefined) {
  process.stderr.write(USAGE);
  process.exitCode = 2;
} else {
  try {
    process.exitCode = await run(asked);
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
    process.exitCode = 2;
  }
}
