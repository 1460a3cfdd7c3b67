import { storeContract } from '../../../src/testing/store-contract.js';
import { openTempSqlite } from './sqlite-support.js';

storeContract('sqlite', openTempSqlite);
