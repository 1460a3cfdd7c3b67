import path from 'node:path';
import {
  sqliteStores,
  type SqliteOptions,
  type SqliteStores,
} from '../../../src/infra/stores/sqlite/sqlite-store.js';
import { valueOf } from '../../../src/testing/answers.js';
import type { OpenedStores } from '../../../src/testing/opened-stores.js';
import { tempFolder } from '../../support/temp-folder.js';

/** Opens the store of these options; throws when it is refused. */
export const openSqlite = (options: SqliteOptions): Promise<SqliteStores> =>
  valueOf(sqliteStores(options));

/** A new store in a new folder, with all that the contract can make use of. */
export const openTempSqlite = async (): Promise<OpenedStores> => {
  const folder = path.join(tempFolder('sqlite'), 'store');
  const open: SqliteStores[] = [];
  const openOne = async (): Promise<SqliteStores> => {
    const stores = await openSqlite({ path: folder });
    open.push(stores);
    return stores;
  };
  const closeAll = async (): Promise<void> => {
    for (const stores of open.splice(0)) await valueOf(stores.events.close());
  };
  return {
    stores: await openOne(),
    another: openOne,
    reopen: async () => {
      await closeAll();
      return openOne();
    },
    dispose: closeAll,
  };
};
