import { spawnSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { tempFolder } from '../../support/temp-folder.js';
import { newPlace } from './cli-run.js';

const script = async (shell: string): Promise<string> =>
  (await newPlace().cli(['completion', shell])).out;

describe('completion', () => {
  it('CLI9 completes commands, their commands and their flags in bash', async () => {
    const folder = tempFolder();
    const words = (line: string, at: number): string =>
      spawnSync(
        'bash',
        [
          '-c',
          `${bash}\nCOMP_WORDS=(${line}); COMP_CWORD=${at}; _stemma; printf '%s ' "\${COMPREPLY[@]}"`,
        ],
        { encoding: 'utf8', cwd: folder },
      ).stdout.trim();
    const bash = await script('bash');
    expect(words('stemma hist', 1)).toBe('history');
    expect(words('stemma calls s', 2)).toBe('show');
    expect(words('stemma branch --at m:x p', 4)).toBe('promote');
    expect(words('stemma context demo --bu', 3)).toBe('--budget');
    expect(words('stemma --js', 1)).toBe('--json --jsonl');
  });

  it.each(['bash', 'zsh', 'fish'])('CLI9 names every command in %s', async (shell) => {
    const text = await script(shell);
    for (const name of ['history', 'calls', 'attempts', 'request', 'rebuild', 'completion']) {
      expect(text).toMatch(new RegExp(`\\b${name}\\b`));
    }
  });

  it('B54 refuses a shell that it does not know', async () => {
    const { code, out } = await newPlace().cli(['completion', 'tcsh']);
    expect([code, out]).toEqual([2, '']);
  });
});
