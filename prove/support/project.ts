import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const hasManifest = (folder: string): boolean => fs.existsSync(path.join(folder, 'package.json'));

const above = (folder: string): string => {
  const parent = path.dirname(folder);
  return hasManifest(folder) || parent === folder ? folder : above(parent);
};

/** The folder that holds package.json, from the sources and from the compiled tree alike. */
export const projectRoot = above(path.dirname(fileURLToPath(import.meta.url)));

export const inProject = (...parts: readonly string[]): string => path.join(projectRoot, ...parts);

/** The commit that is checked out; `none` outside a repository. */
export const commitOf = (): string => {
  const git = spawnSync('git', ['rev-parse', 'HEAD'], { cwd: projectRoot, encoding: 'utf8' });
  return git.status === 0 ? git.stdout.trim() : 'none';
};
