import { expect } from 'vitest';
import type { FaultOf } from '../../domain/errors.js';
import { refusalOf, valueOf } from '../answers.js';
import { abilityOf, type StoreCase } from '../opened-stores.js';
import {
  countTo,
  fill,
  idsOf,
  readAll,
  sampleBatch,
  sampleEvent,
  type Batch,
} from '../sample-events.js';

const wrong = (expected: number | 'none', actual: number): FaultOf<'WrongRevision'> => ({
  _tag: 'WrongRevision',
  expected,
  actual,
});

/** ST30 to ST40: an append whose answer was lost is sent again, and answered as the first time. */
export const resendCases: readonly StoreCase[] = [
  {
    title: 'G8 ST30 answers a repeated append as the first time and stores nothing twice',
    run: async ({ stores: { events } }) => {
      const batch = sampleBatch('branch-a', 0, 3);
      const first = await valueOf(events.append('branch-a', 'none', batch));
      for (const _ of countTo(3)) {
        expect(await valueOf(events.append('branch-a', 'none', batch))).toEqual(first);
      }
      expect(idsOf(await readAll(events, 'branch-a'))).toEqual(idsOf(batch));
    },
  },
  {
    title: 'ST31 answers it as the first time also when others have appended since',
    run: async ({ stores: { events } }) => {
      await fill(events, 'branch-a', 2);
      const batch = sampleBatch('branch-a', 2, 2);
      const first = await valueOf(events.append('branch-a', 1, batch));
      await fill(events, 'branch-a', 3, 4);
      await fill(events, 'branch-b', 3);
      expect(await valueOf(events.append('branch-a', 1, batch))).toEqual(first);
      expect(await readAll(events, 'branch-a')).toHaveLength(7);
    },
  },
  {
    title: 'ST32 takes a prefix of what is stored there for a repetition',
    run: async ({ stores: { events } }) => {
      const [first, second, third] = await fill(events, 'branch-a', 3);
      const answer = await valueOf(events.append('branch-a', 'none', [first]));
      expect(answer).toMatchObject({ first: 0, last: 0 });
      const rest = [second, third] as unknown as Batch;
      expect(await valueOf(events.append('branch-a', 0, rest))).toMatchObject({
        first: 1,
        last: 2,
      });
      expect(await readAll(events, 'branch-a')).toHaveLength(3);
    },
  },
  {
    title: 'ST33 refuses a batch of which only the beginning is stored, and stores no more of it',
    run: async ({ stores: { events } }) => {
      const batch = sampleBatch('branch-a', 0, 3);
      await valueOf(events.append('branch-a', 'none', batch));
      const longer = sampleBatch('branch-a', 0, 4);
      expect(idsOf(longer).slice(0, 3)).toEqual(idsOf(batch));
      expect(await refusalOf(events.append('branch-a', 'none', longer))).toEqual(wrong('none', 2));
      expect(await readAll(events, 'branch-a')).toHaveLength(3);
    },
  },
  {
    title: 'ST34 refuses the same events at another expected revision',
    run: async ({ stores: { events } }) => {
      const batch = await fill(events, 'branch-a', 4);
      const last = batch.slice(-1) as unknown as Batch;
      for (const expected of [0, 1] as const) {
        expect(await refusalOf(events.append('branch-a', expected, last))).toEqual(
          wrong(expected, 3),
        );
      }
      expect(await readAll(events, 'branch-a')).toHaveLength(4);
    },
  },
  {
    title: 'ST35 refuses other events at the place of stored ones',
    run: async ({ stores: { events } }) => {
      await fill(events, 'branch-a', 2);
      const other = sampleBatch('branch-a', 0, 2, { data: '"other"' });
      expect(await refusalOf(events.append('branch-a', 'none', other))).toEqual(wrong('none', 1));
      const single = sampleBatch('branch-a', 1, 1, { data: '"other"' });
      expect(await refusalOf(events.append('branch-a', 0, single))).toEqual(wrong(0, 1));
    },
  },
  {
    title: 'ST36 refuses a batch of which any one event is another',
    run: async ({ stores: { events } }) => {
      const batch = await fill(events, 'branch-a', 3);
      for (const changed of countTo(3)) {
        const [first, ...rest] = batch.map((event, index) =>
          index === changed ? sampleEvent('branch-a', index, { data: '"other"' }) : event,
        );
        if (first === undefined) throw new Error('no event');
        const fault = await refusalOf(events.append('branch-a', 'none', [first, ...rest]));
        expect(fault).toEqual(wrong('none', 2));
      }
    },
  },
  {
    title: 'ST37 refuses the same events in another order',
    run: async ({ stores: { events } }) => {
      const [first, second] = await fill(events, 'branch-a', 2);
      if (second === undefined) throw new Error('no event');
      const fault = await refusalOf(events.append('branch-a', 'none', [second, first]));
      expect(fault).toEqual(wrong('none', 1));
    },
  },
  {
    title: 'ST38 takes an event that another stream has for a new one',
    run: async ({ stores: { events } }) => {
      const batch = await fill(events, 'branch-a', 2);
      expect(await valueOf(events.append('branch-b', 'none', batch))).toMatchObject({ last: 1 });
      expect(await readAll(events, 'branch-b')).toHaveLength(2);
    },
  },
  {
    title: 'ST39 stores an append once that is sent twice at the same time',
    run: async ({ stores: { events } }) => {
      await fill(events, 'branch-a', 1);
      const batch = sampleBatch('branch-a', 1, 3);
      const answers = await Promise.all(
        countTo(8).map(() => valueOf(events.append('branch-a', 0, batch))),
      );
      for (const answer of answers) expect(answer).toEqual(answers[0]);
      expect(await readAll(events, 'branch-a')).toHaveLength(4);
    },
  },
  {
    title: 'ST40 answers as the first time also after the store was opened again',
    needs: 'reopen',
    run: async (opened) => {
      const batch = sampleBatch('branch-a', 0, 3);
      const first = await valueOf(opened.stores.events.append('branch-a', 'none', batch));
      const { events } = await abilityOf(opened, 'reopen')();
      expect(await valueOf(events.append('branch-a', 'none', batch))).toEqual(first);
      expect(await readAll(events, 'branch-a')).toHaveLength(3);
    },
  },
];
