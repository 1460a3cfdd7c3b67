// Folds the histories of a file, or makes some anew, and prints one line of JSON for each.
import fs from 'node:fs';
import readline from 'node:readline';
import { bytesDigest, foldAllWays } from './fold.js';
import { generate, type Generated } from './generate.js';

const print = (value: unknown): void => {
  process.stdout.write(`${JSON.stringify(value)}\n`);
};

const fold = async (file: string): Promise<void> => {
  const { locale, timeZone } = Intl.DateTimeFormat().resolvedOptions();
  print({ place: `${locale} ${timeZone}` });
  for await (const line of readline.createInterface({ input: fs.createReadStream(file) })) {
    print(foldAllWays(JSON.parse(line) as Generated));
  }
};

const remake = async (seeds: readonly string[]): Promise<void> => {
  for (const text of seeds) {
    const seed = Number(text);
    print({ seed, digest: bytesDigest(await generate(seed)) });
  }
};

const [what, ...rest] = process.argv.slice(2);
if (what === 'fold') await fold(rest[0] ?? '');
if (what === 'remake') await remake(rest);
