import fs from 'node:fs';
import path from 'node:path';

export const errorCode = (error: unknown): string | undefined =>
  error instanceof Error && 'code' in error && typeof error.code === 'string'
    ? error.code
    : undefined;

/** Makes a new name in a folder survive a power cut, where the system can. */
const syncFolder = (folder: string): void => {
  if (process.platform === 'win32') return;
  const descriptor = fs.openSync(folder, 'r');
  try {
    fs.fsyncSync(descriptor);
  } finally {
    fs.closeSync(descriptor);
  }
};

/**
 * Makes a folder, and those above it that are missing, so that a power cut takes none of them away
 * with what is then put inside.
 */
export const makeFolder = (folder: string): void => {
  const place = path.resolve(folder);
  const first = fs.mkdirSync(place, { recursive: true, mode: 0o700 });
  if (first === undefined) return;
  for (let made = place; made.length >= first.length; made = path.dirname(made)) {
    try {
      syncFolder(path.dirname(made));
    } catch (error) {
      // A folder that may be written but not read cannot be synced.
      if (errorCode(error) !== 'EACCES') throw error;
    }
  }
};

const withoutHardLinks: ReadonlySet<string | undefined> = new Set(['EPERM', 'ENOTSUP', 'ENOSYS']);

/**
 * Gives a finished file its name, atomically and for good. False, and nothing changed, when the name
 * is taken: of two processes that publish one wins.
 */
export const publishFile = (draft: string, file: string): boolean => {
  try {
    fs.linkSync(draft, file);
  } catch (error) {
    const code = errorCode(error);
    if (code === 'EEXIST') return false;
    if (!withoutHardLinks.has(code) || fs.existsSync(file)) throw error;
    // A file system without hard links: the check above is the best that can be had there.
    fs.renameSync(draft, file);
  }
  syncFolder(path.dirname(file));
  return true;
};
