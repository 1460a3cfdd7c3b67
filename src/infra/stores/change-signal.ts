/** Wakes the feeds of a store when something may have been appended. */
export interface ChangeSignal {
  /** Grows with every announcement: take it before looking, wait with it after. */
  readonly version: () => number;
  readonly announce: () => void;
  /** Resolves once the version differs from `seen`, or when `signal` aborts. Never rejects. */
  readonly changedSince: (seen: number, signal: AbortSignal) => Promise<void>;
  readonly waiting: () => number;
}

/** `onWait` is called whenever somebody begins to wait. */
export const changeSignal = (onWait?: () => void): ChangeSignal => {
  let version = 0;
  const waiters = new Set<() => void>();
  const announce = (): void => {
    version += 1;
    for (const wake of [...waiters]) wake();
  };
  const changedSince = (seen: number, signal: AbortSignal): Promise<void> =>
    new Promise((resolve) => {
      if (version !== seen || signal.aborted) {
        resolve();
        return;
      }
      const wake = (): void => {
        waiters.delete(wake);
        signal.removeEventListener('abort', wake);
        resolve();
      };
      waiters.add(wake);
      signal.addEventListener('abort', wake);
      onWait?.();
    });
  return { version: () => version, announce, changedSince, waiting: () => waiters.size };
};
