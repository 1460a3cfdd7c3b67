import * as E from 'fp-ts/lib/Either.js';
import { expect } from 'vitest';
import { STORE_LIMITS } from '../../domain/event-store.js';
import { refusalOf, valueOf } from '../answers.js';
import type { StoreCase } from '../opened-stores.js';
import {
  countTo,
  eventOfBytes,
  fill,
  idsOf,
  readAll,
  revisionsOf,
  sampleBatch,
  sampleEvent,
} from '../sample-events.js';

const wrong = (
  expected: number | 'none',
  actual: number | 'none',
): { readonly _tag: 'WrongRevision'; expected: number | 'none'; actual: number | 'none' } => ({
  _tag: 'WrongRevision',
  expected,
  actual,
});

/** ST1 to ST22: what an append promises. */
export const appendCases: readonly StoreCase[] = [
  {
    title: 'ST1 gives the first event of a stream revision 0',
    run: async ({ stores: { events } }) => {
      const answer = await valueOf(
        events.append('branch-a', 'none', sampleBatch('branch-a', 0, 1)),
      );
      expect(answer).toMatchObject({ first: 0, last: 0 });
    },
  },
  {
    title: 'ST2 numbers the events of a stream without gaps',
    run: async ({ stores: { events } }) => {
      for (const revision of countTo(5)) await fill(events, 'branch-a', 1, revision);
      expect(revisionsOf(await readAll(events, 'branch-a'))).toEqual([0, 1, 2, 3, 4]);
    },
  },
  {
    title: 'ST3 answers with the first and the last revision of a batch',
    run: async ({ stores: { events } }) => {
      await fill(events, 'branch-a', 2);
      const answer = await valueOf(events.append('branch-a', 1, sampleBatch('branch-a', 2, 3)));
      expect(answer).toMatchObject({ first: 2, last: 4 });
    },
  },
  {
    title: 'ST4 refuses a stale expected revision and stores nothing',
    run: async ({ stores: { events } }) => {
      const stored = await fill(events, 'branch-a', 3);
      const late = sampleBatch('branch-a', 2, 1, { data: '"late"' });
      expect(await refusalOf(events.append('branch-a', 1, late))).toEqual(wrong(1, 2));
      expect(idsOf(await readAll(events, 'branch-a'))).toEqual(idsOf(stored));
    },
  },
  {
    title: 'ST5 refuses an expected revision ahead of the head and stores nothing',
    run: async ({ stores: { events } }) => {
      const stored = await fill(events, 'branch-a', 3);
      for (const ahead of [3, 4, 100]) {
        const early = sampleBatch('branch-a', ahead + 1, 1);
        expect(await refusalOf(events.append('branch-a', ahead, early))).toEqual(wrong(ahead, 2));
      }
      expect(idsOf(await readAll(events, 'branch-a'))).toEqual(idsOf(stored));
    },
  },
  {
    title: 'ST6 refuses a second beginning of a stream',
    run: async ({ stores: { events } }) => {
      await fill(events, 'branch-a', 1);
      const again = sampleBatch('branch-a', 0, 1, { data: '"again"' });
      expect(await refusalOf(events.append('branch-a', 'none', again))).toEqual(wrong('none', 0));
    },
  },
  {
    title: 'ST7 refuses a revision where there is no stream, and makes none',
    run: async ({ stores: { events } }) => {
      const batch = sampleBatch('branch-a', 1, 1);
      expect(await refusalOf(events.append('branch-a', 0, batch))).toEqual(wrong(0, 'none'));
      const page = await valueOf(
        events.read({
          stream: 'branch-a',
          from: 'start',
          direction: 'forwards',
          limit: 1,
          maxBytes: 1,
        }),
      );
      expect(page).toEqual({ events: [], exists: false });
    },
  },
  {
    title: 'ST8 stores nothing of a batch that is refused',
    run: async ({ stores: { events } }) => {
      await fill(events, 'branch-a', 1);
      const batch = sampleBatch('branch-a', 0, 50, { data: '"other"' });
      expect(await refusalOf(events.append('branch-a', 'none', batch))).toEqual(wrong('none', 0));
      expect(await readAll(events, 'branch-a')).toHaveLength(1);
      await fill(events, 'branch-a', 1, 1);
    },
  },
  {
    title: 'G3 ST9 stores all events of a batch or, when its last one cannot be stored, none',
    run: async ({ stores: { events } }) => {
      const [first, ...rest] = sampleBatch('branch-a', 0, 9);
      const foreign = { ...sampleEvent('branch-a', 9), id: sampleEvent('branch-b', 9).id };
      const fault = await refusalOf(events.append('branch-a', 'none', [first, ...rest, foreign]));
      expect(fault).toEqual({ _tag: 'Damaged', stream: 'branch-a', check: 'hash' });
      expect(await readAll(events, 'branch-a')).toEqual([]);
      await fill(events, 'branch-a', 3);
    },
  },
  {
    title: 'G6 ST10 lets exactly one of many writers have a revision',
    run: async ({ stores: { events } }) => {
      await fill(events, 'branch-a', 1);
      const answers = await Promise.all(
        countTo(16).map((writer) =>
          events.append('branch-a', 0, sampleBatch('branch-a', 1, 2, { data: String(writer) }))(),
        ),
      );
      expect(answers.filter(E.isRight)).toHaveLength(1);
      for (const answer of answers.filter(E.isLeft)) expect(answer.left).toEqual(wrong(0, 2));
      const stored = await readAll(events, 'branch-a');
      expect(stored).toHaveLength(3);
      expect(stored[1]?.data).toBe(stored[2]?.data);
    },
  },
  {
    title: 'ST11 lets no refused append take others of the same moment with it',
    run: async ({ stores: { events } }) => {
      await fill(events, 'branch-a', 1);
      const answers = await Promise.all(
        countTo(40).map((writer) => {
          const stream = writer % 2 === 0 ? `branch-${writer}` : 'branch-a';
          return events.append(
            stream,
            'none',
            sampleBatch(stream, 0, 2, { data: String(writer) }),
          )();
        }),
      );
      expect(answers.map(E.isRight)).toEqual(countTo(40).map((writer) => writer % 2 === 0));
      expect(await readAll(events, 'branch-a')).toHaveLength(1);
      for (const writer of countTo(20)) {
        expect(await readAll(events, `branch-${writer * 2}`)).toHaveLength(2);
      }
    },
  },
  {
    title: 'ST12 keeps streams apart whose names are alike',
    run: async ({ stores: { events } }) => {
      const names = [
        'branch-a',
        'branch-A',
        'branch-a.',
        'branch-a_',
        'branch-a%',
        'branch-',
        'branch',
      ];
      for (const name of names) await fill(events, name, 1);
      for (const name of names) {
        const stored = await readAll(events, name);
        expect(stored.map(({ stream, data }) => [stream, data])).toEqual([
          [name, JSON.stringify({ stream: name, revision: 0 })],
        ]);
      }
    },
  },
  {
    title: 'ST13 gives a writer its own events at once',
    run: async ({ stores: { events } }) => {
      for (const revision of countTo(30)) {
        const batch = await fill(events, 'branch-a', 1, revision);
        const page = await valueOf(
          events.read({
            stream: 'branch-a',
            from: 'end',
            direction: 'backwards',
            limit: 1,
            maxBytes: 1,
          }),
        );
        expect(idsOf(page.events)).toEqual(idsOf(batch));
      }
    },
  },
  {
    title: 'ST14 gives positions that grow in the order of the appends, over all streams',
    run: async ({ stores: { events } }) => {
      const positions: string[] = [];
      for (const turn of countTo(12)) {
        const stream = `branch-${turn % 3}`;
        await fill(events, stream, 2, Math.floor(turn / 3) * 2);
        const stored = await readAll(events, stream);
        positions.push(...stored.slice(-2).map((event) => event.position));
      }
      for (const [index, position] of positions.entries()) {
        expect(events.compare(position, position)).toBe(0);
        const before = positions[index - 1];
        if (before === undefined) continue;
        expect(events.compare(before, position)).toBe(-1);
        expect(events.compare(position, before)).toBe(1);
      }
    },
  },
  {
    title: 'ST15 answers, if at all, with the position of the last event',
    run: async ({ stores: { events } }) => {
      await fill(events, 'branch-b', 1);
      const answer = await valueOf(
        events.append('branch-a', 'none', sampleBatch('branch-a', 0, 3)),
      );
      const stored = await readAll(events, 'branch-a');
      expect([undefined, stored[2]?.position]).toContain(answer.position);
    },
  },
  {
    title: 'ST16 says its limits, the same on every store',
    run: ({ stores: { events } }) => {
      expect(events.limits).toEqual(STORE_LIMITS);
      expect(events.limits).toEqual({ appendBytes: 1_000_000, appendEvents: 2_000 });
      return Promise.resolve();
    },
  },
  {
    title: 'ST17 stores an append of exactly 1,000,000 bytes',
    run: async ({ stores: { events } }) => {
      const batch = [
        eventOfBytes('branch-a', 0, 600_000),
        eventOfBytes('branch-a', 1, 400_000),
      ] as const;
      await valueOf(events.append('branch-a', 'none', batch));
      expect(idsOf(await readAll(events, 'branch-a'))).toEqual(idsOf(batch));
    },
  },
  {
    title: 'ST18 refuses an append of one byte more and stores nothing',
    run: async ({ stores: { events } }) => {
      const batch = [
        eventOfBytes('branch-a', 0, 600_000),
        eventOfBytes('branch-a', 1, 400_001),
      ] as const;
      expect(await refusalOf(events.append('branch-a', 'none', batch))).toEqual({
        _tag: 'AppendTooLarge',
        bytes: 1_000_001,
        events: 2,
        limit: 1_000_000,
      });
      expect(await readAll(events, 'branch-a')).toEqual([]);
    },
  },
  {
    title: 'ST19 counts bytes and not characters',
    run: async ({ stores: { events } }) => {
      const batch = [sampleEvent('branch-a', 0, { data: '中'.repeat(340_000) })] as const;
      const fault = await refusalOf(events.append('branch-a', 'none', batch));
      expect(fault).toMatchObject({ _tag: 'AppendTooLarge', events: 1, limit: 1_000_000 });
    },
  },
  {
    title: 'ST20 stores a batch of 2,000 events in order',
    run: async ({ stores: { events } }) => {
      const batch = await fill(events, 'branch-a', 2_000);
      expect(idsOf(await readAll(events, 'branch-a'))).toEqual(idsOf(batch));
    },
  },
  {
    title: 'ST21 refuses a batch of 2,001 events and stores nothing',
    run: async ({ stores: { events } }) => {
      const batch = sampleBatch('branch-a', 0, 2_001);
      const fault = await refusalOf(events.append('branch-a', 'none', batch));
      expect(fault).toMatchObject({ _tag: 'AppendTooLarge', events: 2_001, limit: 2_000 });
      expect(await readAll(events, 'branch-a')).toEqual([]);
    },
  },
  {
    title: 'ST22 goes on at the head after every kind of refusal',
    run: async ({ stores: { events } }) => {
      await fill(events, 'branch-a', 1);
      await refusalOf(events.append('branch-a', 5, sampleBatch('branch-a', 6, 1)));
      await refusalOf(events.append('branch-a', 0, sampleBatch('branch-a', 1, 2_001)));
      const answer = await valueOf(events.append('branch-a', 0, sampleBatch('branch-a', 1, 1)));
      expect(answer).toMatchObject({ first: 1, last: 1 });
    },
  },
];
