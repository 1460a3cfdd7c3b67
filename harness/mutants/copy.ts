import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';

const leftOut = new Set(['node_modules', 'dist', '.build', '.git', '.stemma', 'coverage']);

const isWanted = (root: string, source: string): boolean => {
  const [top = ''] = path.relative(root, source).split(path.sep);
  return !leftOut.has(top) && !top.startsWith('.fresh-');
};

/** A copy of the project in a folder of its own, with the packages that the project has. */
export const copyProject = (root: string): string => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'stemma-mutants-'));
  const copy = path.join(folder, 'project');
  fs.cpSync(root, copy, { recursive: true, filter: (source) => isWanted(root, source) });
  fs.symlinkSync(path.join(root, 'node_modules'), path.join(copy, 'node_modules'), 'dir');
  return copy;
};

export const removeCopy = (copy: string): void => {
  fs.rmSync(path.dirname(copy), { recursive: true, force: true });
};
