import type { StoreFault } from '../../domain/errors.js';

type FaultAt = (path: string) => StoreFault;

const unavailable =
  (reason: 'descriptors' | 'path' | 'unreachable' | 'closed'): FaultAt =>
  (path) => ({ _tag: 'Unavailable', reason, path });
const denied: FaultAt = (path) => ({ _tag: 'AccessDenied', path });
const full: FaultAt = (path) => ({ _tag: 'StorageFull', path });

const faults: Readonly<Record<string, FaultAt>> = {
  EACCES: denied,
  EPERM: denied,
  EROFS: (path) => ({ _tag: 'ReadOnly', path }),
  ENOSPC: full,
  EDQUOT: full,
  EFBIG: full,
  EMFILE: unavailable('descriptors'),
  ENFILE: unavailable('descriptors'),
  ENOENT: unavailable('path'),
  ENOTDIR: unavailable('path'),
  EISDIR: unavailable('path'),
  ELOOP: unavailable('path'),
  EEXIST: unavailable('path'),
  ENAMETOOLONG: unavailable('path'),
  EIO: unavailable('unreachable'),
  ESTALE: unavailable('unreachable'),
  ERR_INVALID_STATE: unavailable('closed'),
};

/** The fault that a system error name (`ENOSPC`) stands for; undefined for other names. */
export const faultOfCode = (code: string, path: string): StoreFault | undefined =>
  Object.hasOwn(faults, code) ? faults[code]?.(path) : undefined;

/** The fault of an error of the file system. Any other error is a mistake of ours and thrown on. */
export const systemFault = (error: unknown, path: string): StoreFault => {
  const code =
    error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : '';
  const fault = faultOfCode(code, path);
  if (fault === undefined) throw error;
  return fault;
};
