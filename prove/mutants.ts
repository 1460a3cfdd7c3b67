import { atLeast, exactly, say, type Claim } from './claim.js';
import { closingCounts } from './support/closing-line.js';
import { inProject } from './support/project.js';
import { runNode } from './support/processes.js';

const LEAST = 25;

/** Faults planted one at a time: the tests notice every one. */
export const claim: Claim = {
  id: 'mutants',
  run: async ({ paths: [folder] }) => {
    const { stdout, stderr } = await runNode(
      inProject('scripts', 'run.mjs'),
      ['harness/mutants/main', ...(folder === undefined ? [] : [folder])],
      { timeoutMs: 4 * 3_600_000 },
    );
    say(stdout + stderr);
    const counts = closingCounts(stdout);
    return {
      measures: [
        atLeast('planted faults caught', counts?.passed ?? 0, folder === undefined ? LEAST : 1),
        exactly('planted faults not caught', counts?.failed ?? -1, 0),
      ],
    };
  },
};
