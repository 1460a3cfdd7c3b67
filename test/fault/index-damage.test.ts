import fs from 'node:fs';
import path from 'node:path';
import * as E from 'fp-ts/lib/Either.js';
import { describe, expect, it } from 'vitest';
import { verifyConversation, type Verification } from '../../src/engine/verification.js';
import type { StemmaFault } from '../../src/domain/errors.js';
import { sqliteStores, type SqliteStores } from '../../src/infra/stores/sqlite/sqlite-store.js';
import { openEngine } from '../../src/open.js';
import { refusalOf, valueOf } from '../../src/testing/answers.js';
import { expectedOf, newChain, nextBatch } from '../../prove/fault/chain.js';
import { tempFolder } from '../support/temp-folder.js';

const CHAIN = newChain('b');
const EVENTS = 40;

const open = (folder: string): Promise<SqliteStores> => valueOf(sqliteStores({ path: folder }));

/** A closed store with two streams, of which the second one is looked at. */
const closedStore = async (): Promise<{ readonly folder: string; readonly hashes: string[] }> => {
  const folder = path.join(tempFolder('index-damage'), 'store');
  const engine = await valueOf(openEngine({ store: folder }));
  await valueOf(engine.runtime.events.close());
  const stores = await open(folder);
  const other = newChain('a');
  await valueOf(
    stores.events.append(other.stream, expectedOf(other), nextBatch(other, EVENTS).batch),
  );
  const { batch } = nextBatch(CHAIN, EVENTS);
  await valueOf(stores.events.append(CHAIN.stream, expectedOf(CHAIN), batch));
  await valueOf(stores.events.close());
  return { folder, hashes: batch.map(({ hash }) => hash) };
};

/** Changes one byte of the file, so many bytes behind the start of this text. */
const change = (folder: string, text: Buffer, from: number, offset: number, to: number): void => {
  const file = path.join(folder, 'store.db');
  const bytes = fs.readFileSync(file);
  const at = bytes.indexOf(text, from);
  expect(at).toBeGreaterThan(0);
  bytes.writeUInt8(to, at + offset);
  fs.writeFileSync(file, bytes);
};

const verify = async (folder: string): Promise<E.Either<StemmaFault, Verification>> => {
  const engine = await openEngine({ store: folder, readOnly: true })();
  if (E.isLeft(engine)) return engine;
  const found = await verifyConversation(engine.right)();
  await valueOf(engine.right.runtime.events.close());
  return found;
};

describe('an index and the rows that it points to', () => {
  it.each([
    ['stream', -2, 2],
    ['revision', -1, 30],
  ])('G13 are known to disagree on the %s of an event', async (_what, offset, to) => {
    const { folder, hashes } = await closedStore();
    const stores = await open(folder);
    await valueOf(stores.events.close());
    // A row holds the numbers of its stream and of its revision right before its hash.
    change(folder, Buffer.from(hashes[20]!, 'base64url'), 0, offset, to);
    expect(await verify(folder)).toEqual(
      E.left({ _tag: 'Damaged', stream: CHAIN.stream, revision: 20, check: 'order' }),
    );
    const again = await open(folder);
    const page = again.events.read({
      stream: CHAIN.stream,
      from: 20,
      direction: 'forwards',
      limit: 1,
      maxBytes: 1,
    });
    expect(await refusalOf(page)).toMatchObject({ _tag: 'Damaged', revision: 20 });
    await valueOf(again.events.close());
  });

  it('G13 are known to disagree on the name of a stream', async () => {
    for (const place of ['first', 'second']) {
      const { folder } = await closedStore();
      const name = Buffer.from(CHAIN.stream);
      const file = fs.readFileSync(path.join(folder, 'store.db'));
      const from = place === 'first' ? 0 : file.indexOf(name) + 1;
      change(folder, name, from, name.length - 1, 'z'.charCodeAt(0));
      expect(await verify(folder)).toMatchObject(E.left({ _tag: 'Damaged' }));
    }
  });
});
