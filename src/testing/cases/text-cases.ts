import { expect } from 'vitest';
import type { EventStore } from '../../domain/event-store.js';
import { refusalOf, valueOf } from '../answers.js';
import type { StoreCase } from '../opened-stores.js';
import { readAll, sampleEvent, type Sample } from '../sample-events.js';

/** Stores the samples in one stream and expects every text of them back as it was. */
const expectExact = async (events: EventStore, samples: readonly Sample[]): Promise<void> => {
  const [first, ...rest] = samples.map((sample, revision) =>
    sampleEvent('branch-a', revision, sample),
  );
  if (first === undefined) throw new Error('no sample');
  const batch = [first, ...rest] as const;
  await valueOf(events.append('branch-a', 'none', batch));
  const stored = await readAll(events, 'branch-a');
  expect(stored.map(({ id, type, meta, data }) => ({ id, type, meta, data }))).toEqual(
    batch.map(({ id, type, meta, data }) => ({ id, type, meta, data })),
  );
};

const quoted = (texts: readonly string[]): readonly Sample[] =>
  texts.map((text) => ({ data: JSON.stringify(text) }));

/** ST65 to ST72: stored texts come back byte by byte, since they are hashed. */
export const textCases: readonly StoreCase[] = [
  {
    title: 'ST65 keeps text of every script as it was',
    run: ({ stores: { events } }) =>
      expectExact(
        events,
        quoted([
          'Grüße',
          '你好，世界',
          'مرحبا',
          'שלום',
          'नमस्ते',
          '👩‍👩‍👧‍👦 🏳️‍🌈',
          'e\u0301 \u00e9',
          '\u{1F600}\u{10FFFF}',
        ]),
      ),
  },
  {
    title:
      'ST66 keeps characters that tend to be changed: marks, separators, line ends, byte order',
    run: ({ stores: { events } }) =>
      expectExact(events, [
        ...quoted(['\u2028\u2029', '\r\n \r \n', '\u200e\u202e\u2066', '\ufeff', '\u00a0\u3000']),
        { data: '\ufeff{"begins":"with a byte order mark"}' },
        { data: ' {"spaces" : [ 1 , 2 ] } \n' },
      ]),
  },
  {
    title: 'ST67 keeps escaped and bare NUL characters',
    run: ({ stores: { events } }) =>
      expectExact(events, [
        { data: '"a\\u0000b"' },
        { data: '"a\u0000b"' },
        { data: '\u0000' },
        { data: '{}', meta: '{"fmt":"a\u0000b"}' },
      ]),
  },
  {
    title: 'B16 ST68 keeps lone surrogates that are written as escapes',
    run: ({ stores: { events } }) =>
      expectExact(events, quoted(['a\ud800b', '\udc00', '\ud83d', 'ok \ud83d\ude00'])),
  },
  {
    title: 'ST69 keeps JSON as it was written, also what a parser would change',
    run: ({ stores: { events } }) =>
      expectExact(events, [
        { data: '{"n":1234567890123456789,"f":1.0,"e":1e400,"z":-0}' },
        { data: '{"a":1,"a":2,"__proto__":{"x":1},"2":0,"1":0}' },
        { data: '"\\/ \\u0041 \\"' },
        { data: 'no JSON at all' },
        { data: "'); DROP TABLE events; --" },
      ]),
  },
  {
    title: 'ST70 keeps an empty text',
    run: ({ stores: { events } }) => expectExact(events, [{ data: '' }, { data: '', meta: '' }]),
  },
  {
    title: 'ST71 keeps type and envelope as they were, whether it knows them or not',
    run: ({ stores: { events } }) =>
      expectExact(events, [
        { type: 'SomethingFromTheFuture', meta: '{"fmt":"stemma/9","keys":["no","text"]}' },
        { type: 'x', meta: 'no JSON' },
        { type: 'x', meta: 'null' },
        { type: 'x', meta: '{"keys":7,"conv":8}' },
        { type: 'Ünïcode', meta: '{"keys":"a  b ","conv":"c"}' },
      ]),
  },
  {
    title: 'ST72 refuses a text that no UTF-8 can hold rather than change it',
    run: async ({ stores: { events } }) => {
      const sample = sampleEvent('branch-a', 0, { data: '"a\ud800b"' });
      const fault = await refusalOf(events.append('branch-a', 'none', [sample]));
      expect(fault).toEqual({ _tag: 'Damaged', stream: 'branch-a', check: 'payload' });
      expect(await readAll(events, 'branch-a')).toEqual([]);
    },
  },
];
