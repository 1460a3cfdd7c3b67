import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';

/** Runs `use` with a new empty folder, which is removed afterwards. */
export const withTempFolder = async <A>(
  name: string,
  use: (folder: string) => Promise<A>,
): Promise<A> => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), `stemma-${name}-`));
  try {
    return await use(folder);
  } finally {
    fs.rmSync(folder, { recursive: true, force: true });
  }
};
