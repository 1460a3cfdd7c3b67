import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterAll } from 'vitest';

const made: string[] = [];

// At the top, since a hook that is asked for inside a test never runs.
afterAll(() => {
  for (const folder of made.splice(0)) fs.rmSync(folder, { recursive: true, force: true });
});

/** A new empty folder, removed when the test file is done. */
export const tempFolder = (name = 'stemma'): string => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), `${name}-`));
  made.push(folder);
  return folder;
};
