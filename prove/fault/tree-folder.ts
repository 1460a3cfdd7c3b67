import fs from 'node:fs';
import path from 'node:path';
import type { Tree } from './disk.js';

/** Writes a tree into a new folder. */
export const writeTree = (folder: string, tree: Tree): void => {
  fs.mkdirSync(folder, { recursive: true });
  // A folder before what is in it.
  for (const [name, content] of [...tree].sort(([a], [b]) => (a < b ? -1 : 1))) {
    const place = path.join(folder, name);
    if (content === 'folder') fs.mkdirSync(place, { mode: 0o700 });
    else fs.writeFileSync(place, content, { mode: 0o600 });
  }
};
