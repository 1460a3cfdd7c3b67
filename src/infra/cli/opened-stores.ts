import type { Stemma } from '../../face/stemma-face.js';
import type { Root } from './invocation.js';
import type { Io } from './io.js';
import type { Settings } from './settings.js';

/** Opens the store of a command when it is asked for, once, and closes it at the end. */
export interface OpenedStores {
  readonly reader: () => Promise<Stemma>;
  readonly writer: () => Promise<Stemma>;
  readonly close: () => Promise<void>;
}

export const openedStores = (root: Root, settings: Settings, { now }: Io): OpenedStores => {
  const opened: Promise<Stemma>[] = [];
  const open = (readOnly: boolean) => (): Promise<Stemma> => {
    const { store, tenant, salvage, allowUnsafeFilesystem } = settings;
    const stemma = root.open({
      store,
      readOnly,
      // What is left of a store may be read and never be written on.
      ...(salvage && readOnly ? { salvage } : {}),
      ...(allowUnsafeFilesystem ? { allowUnsafeFilesystem } : {}),
      ...(tenant === undefined ? {} : { tenant }),
      ...(now === undefined ? {} : { now }),
    });
    opened.push(stemma);
    return stemma;
  };
  return {
    reader: open(true),
    writer: open(false),
    close: async () => {
      for (const stemma of await Promise.allSettled(opened)) {
        if (stemma.status === 'fulfilled') await stemma.value.close();
      }
    },
  };
};
