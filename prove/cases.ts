import { atLeast, exactly, say, type Claim } from './claim.js';
import { closingCounts } from './support/closing-line.js';
import { inProject } from './support/project.js';
import { runNode } from './support/processes.js';

const FILE = inProject('test', 'cases', 'message-cases.json');
const CASES = 27;

/** The failures seen in public, as synthetic inputs with the right outcome: all come out right. */
export const claim: Claim = {
  id: 'cases',
  run: async ({ paths }) => {
    const files = paths.length > 0 ? paths : [FILE];
    const sums = { passed: 0, failed: 0, broken: 0 };
    for (const file of files) {
      const { stdout, stderr } = await runNode(inProject('scripts', 'run.mjs'), [
        'harness/cases/main',
        file,
      ]);
      const counts = closingCounts(stdout);
      if (counts === undefined || counts.failed > 0) say(stdout + stderr);
      sums.passed += counts?.passed ?? 0;
      sums.failed += counts?.failed ?? 0;
      sums.broken += counts === undefined ? 1 : 0;
    }
    return {
      measures: [
        atLeast('passed', sums.passed, paths.length > 0 ? 1 : CASES),
        exactly('failed', sums.failed, 0),
        exactly('files that gave no result', sums.broken, 0),
      ],
    };
  },
};
