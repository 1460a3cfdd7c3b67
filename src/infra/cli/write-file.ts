import { randomBytes } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { StemmaError } from '../../face/stemma-error.js';
import { refuse, writeFault } from './faults.js';
import type { Invocation } from './invocation.js';

/** A file while it is written: nobody sees it under its name before it is whole. */
interface Draft {
  readonly descriptor: number;
  readonly file: string;
}

const openDraft = (target: string, shown: string): Draft => {
  const name = `.${path.basename(target)}.${randomBytes(6).toString('hex')}`;
  const file = path.join(path.dirname(target), name);
  try {
    return { descriptor: fs.openSync(file, 'wx', 0o600), file };
  } catch (error) {
    return refuse(writeFault(error, shown));
  }
};

/** Gives the draft its name. Without `force` a file that came in between stays (B62). */
const publish = (draft: string, target: string, force: boolean): boolean => {
  if (!force) {
    try {
      fs.linkSync(draft, target);
      return true;
    } catch {
      // Taken, or a file system without hard links: there the look is the best that can be had.
      if (fs.existsSync(target)) return false;
    }
  }
  fs.renameSync(draft, target);
  return true;
};

const statsOf = (target: string, shown: string): fs.Stats | undefined => {
  try {
    return fs.lstatSync(target, { throwIfNoEntry: false });
  } catch (error) {
    return refuse(writeFault(error, shown));
  }
};

const checkTarget = (target: string, shown: string, force: boolean): void => {
  const stats = statsOf(target, shown);
  if (stats === undefined) return;
  if (stats.isDirectory()) {
    refuse({ _tag: 'TargetUnwritable', path: shown, reason: 'directory' });
  }
  if (!force) refuse({ _tag: 'TargetExists', path: shown });
};

const isSystemError = (error: unknown): boolean => error instanceof Error && 'syscall' in error;

export interface Written {
  readonly path: string;
  readonly bytes: number;
}

/**
 * Writes a file whole or not at all: beside its place first, then under its name. Never overwrites
 * without `force`, and leaves nothing behind when it fails or is interrupted (B62).
 */
export const writeFile = async (
  { io }: Pick<Invocation, 'io'>,
  name: string,
  parts: AsyncIterable<string> | Iterable<string>,
  force: boolean,
): Promise<Written> => {
  const target = path.resolve(io.cwd, name);
  checkTarget(target, name, force);
  const { descriptor, file } = openDraft(target, name);
  const clean = (): void => {
    fs.rmSync(file, { force: true });
  };
  io.signal.addEventListener('abort', clean, { once: true });
  let bytes = 0;
  let isNew = false;
  try {
    try {
      for await (const part of parts) {
        if (io.signal.aborted) return refuse({ _tag: 'Cancelled' });
        fs.writeFileSync(descriptor, part);
        bytes += Buffer.byteLength(part);
      }
      fs.fsyncSync(descriptor);
    } finally {
      fs.closeSync(descriptor);
    }
    isNew = publish(file, target, force);
  } catch (error) {
    // What the source of the parts threw has a fault of its own.
    throw isSystemError(error) ? new StemmaError(writeFault(error, name)) : error;
  } finally {
    clean();
    io.signal.removeEventListener('abort', clean);
  }
  return isNew ? { path: target, bytes } : refuse({ _tag: 'TargetExists', path: name });
};
