import { createHash, createHmac } from 'node:crypto';
import fs from 'node:fs';
import * as E from 'fp-ts/lib/Either.js';
import { describe, expect, it } from 'vitest';
import {
  blobName,
  deriveUid,
  digestOf,
  lookupKey,
  publicUid,
  type KeyKind,
} from '../../src/domain/digest.js';
import {
  chainStart,
  compatOf,
  encodeMeta,
  FORMAT,
  hashEvent,
  idFromHash,
  type Meta,
} from '../../src/domain/envelope.js';
import { codecs, encodeEvent, type DomainEvent } from '../../src/domain/events/catalog.js';
import { blobLine, eventLine, EXCHANGE_FORMAT, headerLine } from '../../src/domain/exchange-lines.js';
import { contentDigest } from '../../src/domain/message.js';
import { readStored } from '../../src/domain/recorded.js';
import { samples } from './samples.js';

const folder = new URL(`./${FORMAT.replace('/', '-')}/`, import.meta.url);
const file = new URL('events.jsonl', folder);

/** One stored event as the golden file has it. */
interface Golden {
  readonly sample: string;
  readonly revision: number;
  readonly id: string;
  readonly hash: string;
  readonly type: string;
  readonly meta: string;
  readonly data: string;
}

const conversation = 'c'.repeat(22);
const branch = 'b'.repeat(22);

/** An envelope with everything in it for the whole sample, and what must be there for the other. */
const metaOf = (event: DomainEvent, isWhole: boolean): Meta => {
  const shared = {
    fmt: FORMAT,
    sv: '1',
    compat: compatOf(event.type),
    conv: conversation,
    branch,
    prev: 'p'.repeat(43),
  };
  const by = { at: '2026-01-01T00:00:00.000Z', actor: 'app', via: 'stemma/0.0.0' };
  if (!isWhole) return { ...shared, part: '1/1', ...by };
  return {
    ...shared,
    cmd: 'command-1',
    cmdDigest: 's1:x',
    part: '1/2',
    at: by.at,
    wall: '2025-12-31T23:59:59.999Z',
    actor: 'end_user:订',
    via: by.via,
    run: 'run-1',
    keys: `${'k'.repeat(22)} ${'l'.repeat(22)}`,
    kids: 'subject-7 subject-8',
    $correlationId: 'correlation',
    $causationId: 'causation',
  };
};

const goldenOf = (event: DomainEvent, isWhole: boolean): Golden => {
  const meta = metaOf(event, isWhole);
  const [metaText, data] = [encodeMeta(meta), encodeEvent(event)];
  const revision = isWhole ? 12 : 0;
  const hash = hashEvent({ ...meta, revision }, event.type, metaText, data);
  const sample = `${event.type} ${isWhole ? 'whole' : 'least'}`;
  return { sample, revision, id: idFromHash(hash), hash, type: event.type, meta: metaText, data };
};

const made: readonly Golden[] = Object.entries(samples).flatMap(([type, [whole, least]]) => [
  goldenOf({ type, data: whole } as DomainEvent, true),
  goldenOf({ type, data: least } as DomainEvent, false),
]);

/** Only a format that is not frozen may write its goldens again. */
const isOpen = (format: string): boolean => format === 'stemma/0';

// Only when asked to: see README.md beside this file.
if (process.env['STEMMA_WRITE_GOLDENS'] === '1' && isOpen(FORMAT)) {
  fs.mkdirSync(folder, { recursive: true });
  fs.writeFileSync(file, made.map((golden) => `${JSON.stringify(golden)}\n`).join(''));
}

const goldens: readonly Golden[] = fs
  .readFileSync(file, 'utf8')
  .trimEnd()
  .split('\n')
  .map((line) => JSON.parse(line) as Golden);

/** Names and digests as the first stores have them. */
const GOLDEN_NAMES = {
  chainStart: 'RjRiEfi8NkiwmlYjcdtWYO7iujqHmYdOxnKk8BjzgjU',
  digest: 's1:SplVfkAzw1Od4utlRyAXytX5VX96BiWgnxw_biumnEw',
  messageKey: '16rrbMm_KX9gWcXUy5pI6Q',
  commandKey: '7P1VZiGeT2oRe2fIYDmkTQ',
  blob: 'SIA7hb_BZ4N-Mo_dMQzaX3qB3-z-I9ObMmEkBdz_epY',
  uid: 'a4O_83Eo6GiYZLFJ2flTeg',
  tenant: 'RAE6StNYmNqyuNoRvwPixQ',
  content: 'c1.s1:m4HAvKQxjddlnsbuzqOsJ-S9jqXdIIy2_A4EO3B7jnc',
} as const;

const lengthPrefixed = (parts: readonly (string | Buffer)[]): Buffer =>
  Buffer.concat(
    parts.flatMap((part) => {
      const bytes = Buffer.from(part as string);
      const length = Buffer.alloc(4);
      length.writeUInt32BE(bytes.length);
      return [length, bytes];
    }),
  );

const sha256 = (bytes: Buffer | string): Buffer => createHash('sha256').update(bytes).digest();

describe('the stored format', () => {
  it('DC3 has a golden event, whole and least, of every type that may be written', () => {
    const types = Object.keys(codecs).flatMap((type) => [`${type} least`, `${type} whole`]);
    expect(goldens.map(({ sample }) => sample).sort()).toEqual(types.sort());
  });

  it.each(goldens)('UP1 writes $sample as the golden has it, byte for byte', (golden) => {
    expect(made.find(({ sample }) => sample === golden.sample)).toEqual(golden);
  });

  it.each(goldens)('UP1 reads the golden of $sample whole', (golden) => {
    const { sample, type, revision, id, meta, data, hash } = golden;
    const read = readStored({ stream: 's', revision, position: '', id, type, meta, data });
    if (E.isLeft(read)) throw new Error(JSON.stringify(read.left));
    const [whole, least] = samples[type as keyof typeof samples];
    expect(read.right.event).toEqual({ type, data: sample.endsWith('whole') ? whole : least });
    expect(read.right.hash).toBe(hash);
  });

  it.each(goldens)('G13 $sample hashes as the format says, by other means', (golden) => {
    const { revision, type, meta, data, hash, id } = golden;
    const again = sha256(
      lengthPrefixed([FORMAT, conversation, branch, String(revision), type, meta, sha256(data)]),
    );
    expect(again.toString('base64url')).toBe(hash);
    const bytes = Buffer.from(again.subarray(0, 16));
    bytes.writeUInt8((bytes.readUInt8(6) & 0x0f) | 0x80, 6);
    bytes.writeUInt8((bytes.readUInt8(8) & 0x3f) | 0x80, 8);
    expect(bytes.toString('hex')).toBe(id.replaceAll('-', ''));
  });

  it.each(goldens)('$sample is such that parsing and writing it again is the identity', (golden) => {
    expect(JSON.stringify(JSON.parse(golden.meta))).toBe(golden.meta);
    expect(JSON.stringify(JSON.parse(golden.data))).toBe(golden.data);
    for (const text of [golden.meta, golden.data]) expect(text).not.toMatch(/\p{Surrogate}/u);
    expect(Object.values(JSON.parse(golden.meta) as object).every((v) => typeof v === 'string')).toBe(
      true,
    );
  });
});

describe('names and digests that are stored', () => {
  it('are what they were', () => {
    expect(FORMAT).toBe('stemma/0');
    expect(EXCHANGE_FORMAT).toBe('stemma-jsonl/0');
    expect(chainStart(conversation, branch)).toBe(GOLDEN_NAMES.chainStart);
    expect(digestOf('é')).toBe(GOLDEN_NAMES.digest);
    expect(lookupKey(conversation, 'message', 'm-1')).toBe(GOLDEN_NAMES.messageKey);
    expect(lookupKey(conversation, 'command', 'm-1')).toBe(GOLDEN_NAMES.commandKey);
    expect(blobName(conversation, Buffer.from('"x"'))).toBe(GOLDEN_NAMES.blob);
    expect(deriveUid(Buffer.alloc(32, 7), 'conversation', 'refund-8812')).toBe(GOLDEN_NAMES.uid);
    expect(publicUid('tenant', 'default')).toBe(GOLDEN_NAMES.tenant);
  });

  it('are made as the format says, by other means', () => {
    const key = (kind: KeyKind): string =>
      sha256(lengthPrefixed([conversation, kind, 'm-1'])).subarray(0, 16).toString('base64url');
    expect(key('message')).toBe(GOLDEN_NAMES.messageKey);
    expect(sha256(lengthPrefixed([FORMAT, conversation, branch])).toString('base64url')).toBe(
      GOLDEN_NAMES.chainStart,
    );
    const blobKey = sha256(lengthPrefixed(['blob', conversation]));
    expect(createHmac('sha256', blobKey).update('"x"').digest('base64url')).toBe(GOLDEN_NAMES.blob);
    const uid = createHmac('sha256', Buffer.alloc(32, 7)).update('conversation\u0000refund-8812');
    expect(uid.digest().subarray(0, 16).toString('base64url')).toBe(GOLDEN_NAMES.uid);
  });

  it('ID2 the content digest is over what a message says, under rule c1', () => {
    const message = {
      role: 'assistant' as const,
      blocks: [{ type: 'text' as const, text: 'é' }],
      name: 'helper',
      toolCalls: [{ id: 'c', name: 'f', arguments: '{"a":1}' }],
      answers: [{ messageId: 'm', index: 0, callId: 'c' }],
      outcome: 'ok' as const,
    };
    expect(contentDigest(message)).toBe(GOLDEN_NAMES.content);
    const text = JSON.stringify([
      'assistant',
      [{ type: 'text', text: 'é' }],
      'helper',
      [['c', 'f', '{"a":1}']],
      [['m', 0]],
      null,
      'ok',
    ]);
    expect(`c1.s1:${sha256(text).toString('base64url')}`).toBe(GOLDEN_NAMES.content);
  });

  it('exchange lines are what they were', () => {
    expect(
      headerLine({ format: EXCHANGE_FORMAT, producer: 'stemma/0.0.0', conversations: ['c'], events: 1 }),
    ).toBe('{"format":"stemma-jsonl/0","producer":"stemma/0.0.0","conversations":["c"],"events":1}');
    expect(
      eventLine({ stream: 's', revision: 0, id: 'i', type: 'T', meta: '{"a":"\u00e9"}', data: '{}' }),
    ).toBe('{"stream":"s","revision":0,"id":"i","type":"T","meta":"{\\"a\\":\\"é\\"}","data":"{}"}');
    expect(blobLine({ blob: 'b', bytes: 'AAAA' })).toBe('{"blob":"b","bytes":"AAAA"}');
  });
});
