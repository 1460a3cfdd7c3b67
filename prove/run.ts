// npm run prove -- ID [--seed S] [--n N] [--path FOLDER ...]: one line of JSON at the end.
import type { Claim, ClaimOptions, Outcome } from './claim.js';
import { say } from './claim.js';
import { claim as backup } from './backup.js';
import { claim as badInput } from './bad-input.js';
import { claim as cases } from './cases.js';
import { claim as data } from './data.js';
import { claim as feed } from './feed.js';
import { claim as flips } from './flips.js';
import { claim as ioFaults } from './io-faults.js';
import { claim as kills } from './kills.js';
import { claim as model } from './model.js';
import { claim as mutants } from './mutants.js';
import { claim as power } from './power.js';
import { claim as processes } from './processes.js';
import { claim as rebuild } from './rebuild.js';
import { claim as recovery } from './recovery.js';
import { claim as start } from './start.js';
import { commitOf } from './support/project.js';

const claims: readonly Claim[] = [
  start,
  recovery,
  rebuild,
  model,
  cases,
  badInput,
  data,
  mutants,
  power,
  kills,
  ioFaults,
  processes,
  flips,
  feed,
  backup,
];

const DEFAULT_SEED = 1;

interface Given {
  readonly claim: Claim;
  readonly options: ClaimOptions;
}

const wholeNumber = (text: string | undefined): number | undefined =>
  text !== undefined && /^\d{1,9}$/.test(text) ? Number(text) : undefined;

const parse = (args: readonly string[]): Given | undefined => {
  const [id, ...rest] = args;
  const claim = claims.find((known) => known.id === id);
  let options: ClaimOptions = { seed: DEFAULT_SEED, paths: [] };
  for (let at = 0; at < rest.length; at += 2) {
    const [name, value] = [rest[at], rest[at + 1]];
    const count = wholeNumber(value);
    if (name === '--seed' && count !== undefined) options = { ...options, seed: count };
    else if (name === '--n' && count !== undefined && count > 0) options = { ...options, n: count };
    else if (name === '--path' && value !== undefined) {
      options = { ...options, paths: [...options.paths, value] };
    } else return undefined;
  }
  return claim === undefined ? undefined : { claim, options };
};

const attempt = async ({ claim, options }: Given): Promise<Outcome> => {
  try {
    return await claim.run(options);
  } catch (error) {
    say(error instanceof Error ? (error.stack ?? error.message) : String(error));
    return { measures: [{ name: 'ran to its end', value: 0, limit: '= 1', pass: false }] };
  }
};

const given = parse(process.argv.slice(2));
if (given === undefined) {
  const ids = claims.map(({ id }) => id).join(', ');
  process.stderr.write(`usage: prove ID [--seed S] [--n N] [--path FOLDER]\nids: ${ids}\n`);
  process.exitCode = 2;
} else {
  const { measures, skipped } = await attempt(given);
  const pass = skipped === undefined && measures.length > 0 && measures.every((one) => one.pass);
  const { seed } = given.options;
  const line = {
    id: given.claim.id,
    pass,
    measures,
    ...(skipped === undefined ? {} : { skipped }),
    seed,
    commit: commitOf(),
  };
  process.stdout.write(`${JSON.stringify(line)}\n`);
  process.exitCode = pass ? 0 : skipped === undefined ? 1 : 2;
}
