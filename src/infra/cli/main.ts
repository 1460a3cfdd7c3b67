#!/usr/bin/env node
import fs from 'node:fs';
import { fileURLToPath } from 'node:url';
import * as E from 'fp-ts/lib/Either.js';
import { EXIT } from '../../domain/error-rows/row.js';
import { openStemma } from '../../index.js';
import { sqliteStores } from '../stores/sqlite/sqlite-store.js';
import type { Root, StoreFacts } from './invocation.js';
import { processIo, type Io } from './io.js';
import { runCli } from './run-cli.js';

const versionOf = (): string => {
  const file = new URL('../../../package.json', import.meta.url);
  const { version } = JSON.parse(fs.readFileSync(file, 'utf8')) as { readonly version: string };
  return version;
};

const lookAt = async (path: string): Promise<StoreFacts> => {
  const opened = await sqliteStores({ path, readOnly: true })();
  if (E.isLeft(opened)) return { file: path, warnings: [], fault: opened.left };
  const { file, warnings, events } = opened.right;
  const identity = await events.identity()();
  await events.close()();
  return E.isLeft(identity)
    ? { file, warnings, fault: identity.left }
    : { file, warnings, storeId: identity.right.storeId };
};

const root: Root = {
  version: versionOf(),
  open: openStemma,
  backup: (store, target) => async () => {
    const opened = await sqliteStores({ path: store, readOnly: true })();
    if (E.isLeft(opened)) return opened;
    const done = await opened.right.backup(target)();
    await opened.right.events.close()();
    return done;
  },
  lookAt,
};

/** Runs the command line in this process; what it sees of the machine is handed in. */
export const main = (io: Io): Promise<number> => runCli(io, root);

/** Time that a command has to put away what it holds after Ctrl-C. */
const GRACE_MS = 200;

const runProcess = async (): Promise<void> => {
  const stop = new AbortController();
  process.once('SIGINT', () => {
    stop.abort();
    setTimeout(() => process.exit(EXIT.interrupted), GRACE_MS);
  });
  // Whoever reads along may stop reading: `stemma history … | head`.
  process.stdout.on('error', (error: Error) => {
    process.exit('code' in error && error.code === 'EPIPE' ? 0 : EXIT.unexpected);
  });
  process.exitCode = await main(processIo(stop.signal));
};

const isEntry = (): boolean => {
  const script = process.argv[1];
  if (script === undefined || !fs.existsSync(script)) return false;
  return fs.realpathSync(script) === fs.realpathSync(fileURLToPath(import.meta.url));
};

if (isEntry()) await runProcess();
