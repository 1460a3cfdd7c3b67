import fs from 'node:fs';
import path from 'node:path';
import { atLeast, exactly, say, type Claim } from './claim.js';
import { closingCounts } from './support/closing-line.js';
import { inProject } from './support/project.js';
import { runNode } from './support/processes.js';

const fixtures = inProject('test', 'fixtures', 'import');

const committed = (): readonly string[] =>
  fs
    .readdirSync(fixtures, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map((entry) => path.join(fixtures, entry.name));

/** Files of other systems: imported whole, twice without a second event, and pairs intact. */
export const claim: Claim = {
  id: 'data',
  run: async ({ paths }) => {
    const folders = paths.length > 0 ? paths : committed();
    const sums = { passed: 0, failed: 0, skipped: 0, broken: 0 };
    for (const folder of folders) {
      const { stdout, stderr } = await runNode(inProject('scripts', 'run.mjs'), [
        'harness/data/main',
        folder,
      ]);
      const counts = closingCounts(stdout);
      if (counts === undefined || counts.failed + counts.skipped > 0) say(stdout + stderr);
      sums.passed += counts?.passed ?? 0;
      sums.failed += counts?.failed ?? 0;
      sums.skipped += counts?.skipped ?? 0;
      sums.broken += counts === undefined ? 1 : 0;
    }
    return {
      measures: [
        atLeast('folders', folders.length, 1),
        atLeast('passed', sums.passed, 1),
        exactly('failed', sums.failed, 0),
        exactly('skipped', sums.skipped, 0),
        exactly('folders that gave no result', sums.broken, 0),
      ],
    };
  },
};
