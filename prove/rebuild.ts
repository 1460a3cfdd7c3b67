import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { atLeast, exactly, say, type Claim, type Measure } from './claim.js';
import { bytesDigest, type Folded } from './rebuild/fold.js';
import { generate, type Generated } from './rebuild/generate.js';
import { runNode } from './support/processes.js';
import { seedOf } from './support/random.js';
import { withTempFolder } from './support/temp.js';

const HISTORIES = 1_000;
const REMADE = 100;

const child = fileURLToPath(new URL('./rebuild/child.js', import.meta.url));

/** Places whose clocks, languages and number formats differ as much as can be. */
const places: readonly Readonly<Record<string, string>>[] = [
  {},
  { TZ: 'Pacific/Kiritimati', LANG: 'tr_TR.UTF-8', LC_ALL: 'tr_TR.UTF-8' },
  { TZ: 'America/St_Johns', LANG: 'ar_EG.UTF-8', LC_ALL: 'ar_EG.UTF-8' },
];

const lines = (stdout: string): readonly unknown[] =>
  stdout
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as unknown);

interface FoldedThere {
  readonly place: string;
  readonly folded: readonly Folded[];
}

const foldIn = async (
  file: string,
  env: Readonly<Record<string, string>>,
): Promise<FoldedThere> => {
  const { code, stdout, stderr } = await runNode(child, ['fold', file], { env });
  if (code !== 0) say(stderr.slice(-3_000));
  const [first, ...folded] = lines(stdout);
  const { place = '' } = (first ?? {}) as { readonly place?: string };
  return { place, folded: folded as readonly Folded[] };
};

/** How many digests each projection of each history has, over all places: all must be one. */
const differing = (folded: readonly (readonly Folded[])[]): readonly string[] => {
  const digests = new Map<string, Set<string>>();
  for (const { seed, digests: found } of folded.flat()) {
    for (const [name, all] of Object.entries(found)) {
      const key = `${name} of ${seed}`;
      const known = digests.get(key) ?? new Set();
      for (const digest of all) known.add(digest);
      digests.set(key, known);
    }
  }
  return [...digests].filter(([, found]) => found.size > 1).map(([key]) => key);
};

// What a history must hold somewhere, if it is to say something about projections.
const wanted = [
  'BranchForked',
  'ContextCompacted',
  'CompactionReverted',
  'MessageRedacted',
  'MessagesWithdrawn',
  'MessageStatusChanged',
  'ToolExecutionStarted',
  'ToolResultAttached',
  'ToolCallAbandoned',
  'ApprovalRequested',
  'ApprovalResolved',
  'TurnStarted',
  'TurnClaimed',
  'TurnEnded',
  'ModelCallRequested',
  'ModelCallCompleted',
  'ModelCallFailed',
  'InstructionsRevised',
  'BranchMerged',
] as const;

const contentMeasures = (all: readonly Generated[]): readonly Measure[] => {
  const types = new Set(all.flatMap(({ events }) => events.map(({ type }) => type)));
  const missing = wanted.filter((type) => !types.has(type));
  if (missing.length > 0) say(`event types in no history: ${missing.join(', ')}`);
  const sizes = all.map(({ events }) => events.length);
  say(`events: ${sizes.reduce((sum, size) => sum + size, 0)} in ${all.length} histories`);
  return [
    atLeast('events in the smallest history', Math.min(...sizes), 50),
    exactly('event types that no history holds', missing.length, 0),
  ];
};

const remadeElsewhere = async (made: readonly Generated[]): Promise<Measure> => {
  const some = made.slice(0, REMADE);
  const seeds = some.map(({ seed }) => String(seed));
  const { stdout, stderr } = await runNode(child, ['remake', ...seeds], { env: places[1] ?? {} });
  const remade = lines(stdout) as readonly { readonly seed: number; readonly digest: string }[];
  const digests = new Map(remade.map((one) => [one.seed, one.digest]));
  const other = some.filter((one) => digests.get(one.seed) !== bytesDigest(one));
  if (other.length > 0)
    say(`made anew with other bytes: ${other.map((one) => one.seed).join(' ')}`);
  if (stderr !== '') say(stderr.slice(-2_000));
  return exactly('histories made anew with other bytes', other.length, 0);
};

/** G10: a projection is a function of the events, however they are cut, mixed or where they are read. */
export const claim: Claim = {
  id: 'rebuild',
  run: ({ seed, n = HISTORIES }) =>
    withTempFolder('rebuild', async (folder) => {
      const file = path.join(folder, 'histories.jsonl');
      const made: Generated[] = [];
      for (let index = 0; index < n; index += 1) {
        const one = await generate(seedOf(seed, index));
        made.push(one);
        fs.appendFileSync(file, `${JSON.stringify(one)}\n`);
      }
      const there = await Promise.all(places.map((env) => foldIn(file, env)));
      const folded = there.map((one) => one.folded);
      const different = differing(folded);
      for (const name of different.slice(0, 20)) say(`more than one digest: ${name}`);
      const counts = folded.map((one) => one.length);
      const told = new Set(there.map(({ place }) => place));
      say(`folded in: ${[...told].join(', ')}`);
      return {
        measures: [
          atLeast('histories', made.length, n),
          ...contentMeasures(made),
          exactly(
            'places that folded all',
            counts.filter((count) => count === n).length,
            places.length,
          ),
          exactly('places that differ in language and time', told.size, places.length),
          exactly('projections with more than one digest', different.length, 0),
          await remadeElsewhere(made),
        ],
      };
    }),
};
