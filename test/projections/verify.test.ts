import * as E from 'fp-ts/lib/Either.js';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { encodeMeta, hashEvent, idFromHash } from '../../src/domain/envelope.js';
import type { StoredEvent } from '../../src/domain/event-store.js';
import type { Link } from '../../src/domain/chain.js';
import type { Recorded } from '../../src/domain/recorded.js';
import { project } from '../../src/projections/projection.js';
import { history } from '../../src/projections/history.js';
import {
  forkFault,
  startVerify,
  verdictOf,
  verifyPage,
  verifyRecorded,
  verifyReport,
  type VerifyReport,
} from '../../src/projections/verify.js';
import {
  buildBranch,
  buildDirectory,
  opened,
  refOf,
  said,
  second,
  type Envelope,
  type StreamBuilder,
} from '../support/recorded-builder.js';

const talk = (count: number, envelope: (index: number) => Envelope = () => ({})): StreamBuilder => {
  const main = buildBranch('main');
  main.add(opened('main'), envelope(0));
  for (let index = 1; index < count; index += 1) {
    main.add(said(`m${String(index)}`, 'user', `text ${String(index)}`), envelope(index));
  }
  return main;
};

const verify = (
  { stream }: StreamBuilder,
  stored: readonly StoredEvent[],
  known?: Link,
  pageSize = 3,
): VerifyReport => {
  const draft = startVerify(stream, known);
  for (let at = 0; at < stored.length; at += pageSize) {
    verifyPage(draft, stored.slice(at, at + pageSize));
  }
  return verifyReport(draft);
};

const damaged = (main: StreamBuilder, revision: number, check: string) => ({
  _tag: 'Damaged',
  stream: main.stream,
  revision,
  check,
});

const eventOf = (main: StreamBuilder, revision: number): Recorded =>
  main.events[revision] ?? expect.fail('too short');

const replaced = (
  stored: readonly StoredEvent[],
  index: number,
  change: Partial<StoredEvent>,
): readonly StoredEvent[] =>
  stored.map((event, at) => (at === index ? { ...event, ...change } : event));

describe('verification of a sound stream', () => {
  it('G13 reports events, head and no fault, at any page size', () => {
    const main = talk(9);
    const last = main.events[8];
    for (const size of [1, 2, 100]) {
      const report = verify(main, main.stored, undefined, size);
      expect(report).toEqual({
        stream: main.stream,
        events: 9,
        head: { revision: 8, hash: last?.hash },
        unknown: [],
        clockRegressions: 0,
        faults: 0,
      });
      expect(E.isRight(verdictOf(report))).toBe(true);
    }
  });

  it('G13 takes recorded events too, and an empty stream', () => {
    const main = talk(4);
    const draft = startVerify(main.stream);
    for (const recorded of main.events) verifyRecorded(draft, recorded);
    expect(verifyReport(draft)).toEqual(verify(main, main.stored));
    expect(verifyReport(startVerify(main.stream))).toMatchObject({ events: 0, faults: 0 });
  });

  it('B40 counts unknown events by type, version and meaning, and goes on', () => {
    const main = talk(2);
    main.addRaw('New', '{}');
    main.addRaw('New', '{}', { compat: 'skip' });
    main.addRaw('New', '{}');
    main.addRaw('MessageAppended', '{}', { sv: '9' });
    expect(verify(main, main.stored)).toMatchObject({
      faults: 0,
      unknown: [
        { type: 'New', version: 1, compat: 'must', events: 2 },
        { type: 'New', version: 1, compat: 'skip', events: 1 },
        { type: 'MessageAppended', version: 9, compat: 'must', events: 1 },
      ],
    });
  });

  it('B51 counts clock regressions; they are no fault', () => {
    const main = talk(3, (index) => ({ at: second(9), ...(index > 0 ? { wall: second(1) } : {}) }));
    expect(verify(main, main.stored)).toMatchObject({ faults: 0, clockRegressions: 2 });
  });

  it('G3 accepts whole batches', () => {
    const parts = ['1/1', '1/3', '2/3', '3/3', '1/2', '2/2'];
    const main = talk(6, (index) => ({ part: parts[index] ?? '' }));
    expect(verify(main, main.stored).faults).toBe(0);
  });
});

describe('verification of a damaged stream', () => {
  it('B43 names the event whose bytes changed, and no other', () => {
    const main = talk(8);
    for (const index of [0, 4, 7]) {
      const data = (main.stored[index]?.data ?? '').replace('m', 'n');
      const report = verify(main, replaced(main.stored, index, { data }));
      expect(report.faults).toBe(1);
      expect(report.first).toEqual(damaged(main, index, 'hash'));
      expect(report.events).toBe(8);
    }
  });

  it('B43 names an event whose id or envelope changed, and no other', () => {
    const main = talk(8);
    const id = idFromHash('A'.repeat(43));
    expect(verify(main, replaced(main.stored, 3, { id }))).toMatchObject({
      faults: 1,
      first: damaged(main, 3, 'hash'),
    });
    expect(verify(main, replaced(main.stored, 3, { meta: '{}' }))).toMatchObject({
      faults: 1,
      first: damaged(main, 3, 'payload'),
    });
    const other = encodeMeta({ ...eventOf(main, 3).meta, fmt: 'stemma/99' });
    expect(verify(main, replaced(main.stored, 3, { meta: other })).first).toEqual({
      _tag: 'UnknownFormat',
      fmt: 'stemma/99',
    });
  });

  it('G13 goes on behind a fault and counts the others', () => {
    const main = talk(9);
    const twice = replaced(replaced(main.stored, 2, { data: '{}' }), 6, { data: '{}' });
    const report = verify(main, twice);
    expect(report.faults).toBe(2);
    expect(report.first).toEqual(damaged(main, 2, 'hash'));
    expect(report.head?.revision).toBe(8);
  });

  it('B44 finds a deleted event by the gap', () => {
    const main = talk(6);
    const report = verify(
      main,
      main.stored.filter((_event, index) => index !== 3),
    );
    expect(report.first).toEqual(damaged(main, 4, 'order'));
    expect(report.faults).toBe(1);
  });

  it('B44 finds swapped events', () => {
    const main = talk(6);
    const [third, fourth] = [main.stored[3], main.stored[4]];
    if (third === undefined || fourth === undefined) throw new Error('too short');
    const swapped = replaced(replaced(main.stored, 3, { ...fourth, revision: 3 }), 4, {
      ...third,
      revision: 4,
    });
    expect(verify(main, swapped).first).toEqual(damaged(main, 3, 'hash'));
  });

  it('B44 finds an event that was taken from another past', () => {
    const main = talk(4);
    const elsewhere = buildBranch('main');
    elsewhere.add(opened('other'));
    for (let index = 1; index < 4; index += 1) elsewhere.add(said(`x${String(index)}`, 'user', ''));
    const mixed = [...main.stored.slice(0, 2), ...elsewhere.stored.slice(2)];
    const report = verify(main, mixed);
    expect(report.first).toEqual(damaged(main, 2, 'chain'));
    expect(report.faults).toBe(1);
  });

  it('B44 finds another past behind a damaged event', () => {
    const main = talk(5);
    const elsewhere = buildBranch('main');
    elsewhere.add(opened('other'));
    for (let index = 1; index < 5; index += 1) elsewhere.add(said(`x${String(index)}`, 'user', ''));
    const mixed = [...main.stored.slice(0, 3), ...elsewhere.stored.slice(3)];
    const report = verify(main, replaced(mixed, 2, { data: '{}' }));
    expect(report.first).toEqual(damaged(main, 2, 'hash'));
    expect(report.faults).toBe(2);
  });

  it('B44 finds a cut tail once a head is known', () => {
    const main = talk(6);
    const [third, last] = [main.events[3], main.events[5]];
    if (third === undefined || last === undefined) throw new Error('too short');
    expect(verify(main, main.stored, last).faults).toBe(0);
    expect(verify(main, main.stored, third).faults).toBe(0);
    expect(verify(main, main.stored.slice(0, 4), last)).toMatchObject({
      faults: 1,
      first: damaged(main, 4, 'tail'),
    });
    expect(verify(main, main.stored, { revision: 3, hash: 'other' })).toMatchObject({
      faults: 1,
      first: damaged(main, 3, 'chain'),
    });
  });

  it('B44 finds a stream that stands under the name of another branch', () => {
    const main = talk(3);
    const draft = startVerify(buildBranch('other').stream);
    verifyPage(draft, main.stored);
    expect(verifyReport(draft).first).toMatchObject({ revision: 0, check: 'chain' });
    const directory = buildDirectory();
    directory.add({ type: 'ConversationClosed', data: {} });
    expect(verify(directory, directory.stored).faults).toBe(0);
  });

  it('G3 finds a batch that is not whole', () => {
    const broken = (parts: readonly string[]) => {
      const main = talk(parts.length, (index) => ({ part: parts[index] ?? '' }));
      const { faults, first } = verify(main, main.stored);
      return [
        faults,
        first && 'revision' in first && first.revision,
        first && 'check' in first && first.check,
      ];
    };
    expect(broken(['1/1', '1/3', '2/3', '1/1'])).toEqual([1, 3, 'order']);
    expect(broken(['1/1', '2/2', '1/1'])).toEqual([1, 1, 'order']);
    expect(broken(['1/2', '2/3', '3/3'])).toEqual([1, 1, 'order']);
    expect(broken(['1/1', '1/2'])).toEqual([1, 2, 'tail']);
    expect(broken(['1/1', '2/1'])).toEqual([1, 1, 'payload']);
    expect(broken(['1/1', 'first'])).toEqual([1, 1, 'payload']);
  });

  it('G3 does not blame the rest of a batch for a damaged part', () => {
    const parts = ['1/1', '1/3', '2/3', '3/3', '1/1'];
    const main = talk(5, (index) => ({ part: parts[index] ?? '' }));
    for (const index of [1, 2, 3]) {
      const report = verify(main, replaced(main.stored, index, { data: '{}' }));
      expect(report).toMatchObject({ faults: 1, first: damaged(main, index, 'hash') });
    }
  });

  it('G16 finds a recorded time that falls', () => {
    const main = talk(4, (index) => ({ at: second([5, 6, 3, 7][index] ?? 0) }));
    expect(verify(main, main.stored)).toMatchObject({
      faults: 1,
      first: damaged(main, 2, 'order'),
    });
  });

  it('B43 a fork hangs on the hash of its parent', () => {
    const main = talk(3);
    const point = main.events[1];
    if (point === undefined) throw new Error('too short');
    const fork = buildBranch('fork');
    fork.add(opened('fork', point));
    const report = verify(fork, fork.stored);
    expect(report.faults).toBe(0);
    expect(report.parent).toEqual(refOf(point));
    expect(forkFault(report, point.hash)).toBeUndefined();
    expect(forkFault(report, main.events[2]?.hash)).toEqual(damaged(fork, 0, 'chain'));
    expect(forkFault(report, undefined)).toEqual(damaged(fork, 0, 'chain'));
    const stray = buildBranch('fork');
    stray.add(opened('fork', point), { prev: 'elsewhere' });
    expect(verify(stray, stray.stored).first).toEqual(damaged(stray, 0, 'chain'));
  });

  it('B43 every changed character of a stored event is found at its event', () => {
    const main = talk(5);
    const place = fc.tuple(
      fc.nat({ max: 4 }),
      fc.constantFrom('data', 'meta', 'id', 'type'),
      fc.nat(),
    );
    fc.assert(
      fc.property(place, ([index, field, at]) => {
        const before = main.stored[index]?.[field] ?? '';
        const offset = at % before.length;
        const flipped = String.fromCharCode(before.charCodeAt(offset) ^ 1);
        const value = before.slice(0, offset) + flipped + before.slice(offset + 1);
        const report = verify(main, replaced(main.stored, index, { [field]: value }));
        expect(report.faults).toBe(1);
        const { first } = report;
        if (first?._tag === 'Damaged') expect(first.revision).toBe(index);
        else expect(first?._tag).toBe('UnknownFormat');
      }),
      { numRuns: 500 },
    );
  });

  it('G9 verifying and folding change nothing of what was stored', () => {
    const main = talk(6);
    const before = JSON.stringify(main.stored);
    project(history, main.events);
    verify(main, main.stored);
    expect(JSON.stringify(main.stored)).toBe(before);
    const { meta, hash } = eventOf(main, 2);
    const { meta: metaText, data, type } = main.stored[2] ?? expect.fail('too short');
    expect(hashEvent({ ...meta, revision: 2 }, type, metaText, data)).toBe(hash);
  });
});
