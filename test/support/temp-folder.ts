import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterAll } from 'vitest';

const made: string[] = [];

/** A new empty folder, removed when the test file is done. */
export const tempFolder = (name = 'stemma'): string => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), `${name}-`));
  if (made.length === 0) {
    afterAll(() => {
      for (const each of made.splice(0)) fs.rmSync(each, { recursive: true, force: true });
    });
  }
  made.push(folder);
  return folder;
};
