import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';

/** Memory as a folder, where the machine has that: nothing in it waits for a disk. */
const fastPlace = (): string => {
  try {
    fs.accessSync('/dev/shm', fs.constants.W_OK);
    return '/dev/shm';
  } catch {
    return os.tmpdir();
  }
};

/** Runs `use` with a new folder in memory, if there is such, which is removed afterwards. */
export const withFastFolder = async <A>(
  name: string,
  use: (folder: string) => Promise<A>,
): Promise<A> => {
  const folder = fs.mkdtempSync(path.join(fastPlace(), `stemma-${name}-`));
  try {
    return await use(folder);
  } finally {
    fs.rmSync(folder, { recursive: true, force: true });
  }
};
