import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Recorded } from '../../src/domain/recorded.js';
import { audit } from '../../src/projections/audit.js';
import { modelCalls } from '../../src/projections/calls.js';
import { catalog } from '../../src/projections/catalog.js';
import { freezeFor, thawFor } from '../../src/projections/checkpoint.js';
import { encodeView } from '../../src/projections/encode-view.js';
import { exposure } from '../../src/projections/exposure.js';
import { history } from '../../src/projections/history.js';
import { lineage } from '../../src/projections/lineage.js';
import { project, type Projection } from '../../src/projections/projection.js';
import { timeline } from '../../src/projections/timeline.js';
import { toolExchanges } from '../../src/projections/tool-exchanges.js';
import { usage } from '../../src/projections/usage.js';
import { built, type Built } from './random-history.js';
import { buildBranch, refOf, uid } from '../support/recorded-builder.js';

/** A projection whose types are of no concern here. */
interface Folded {
  readonly name: string;
  readonly bytes: (events: readonly Recorded[]) => string;
  /** Folds in batches; between two of them the draft is a text. */
  readonly inBatches: (events: readonly Recorded[], size: number) => string;
  /** The view at a prefix, taken before the rest is folded and written after. */
  readonly prefixAfterwards: (events: readonly Recorded[], length: number) => string;
}

const folded = <Draft, View>(projection: Projection<Draft, View>): Folded => ({
  name: projection.name,
  bytes: (events) => encodeView(project(projection, events)),
  inBatches: (events, size) => {
    let draft = projection.start();
    for (let at = 0; at < events.length; at += size) {
      for (const recorded of events.slice(at, at + size)) projection.apply(draft, recorded);
      const thawed = thawFor(projection, freezeFor(projection, draft));
      if (thawed === undefined) throw new Error('a checkpoint did not come back');
      draft = thawed;
    }
    return encodeView(projection.view(draft));
  },
  prefixAfterwards: (events, length) => {
    const draft = projection.start();
    for (const recorded of events.slice(0, length)) projection.apply(draft, recorded);
    const view = projection.view(draft);
    for (const recorded of events.slice(length)) projection.apply(draft, recorded);
    return encodeView(view);
  },
});

const projections: readonly Folded[] = [
  folded(history),
  folded(timeline),
  folded(modelCalls),
  folded(toolExchanges),
  folded(exposure),
  folded(usage),
  folded(audit),
  folded(catalog),
  folded(lineage),
];

/** The two streams merged as `order` says; each keeps its own order. */
const merged = ({ lineage: own, directory }: Built, order: readonly boolean[]): Recorded[] => {
  const [left, right] = [[...own], [...directory]];
  const events: Recorded[] = [];
  for (const takeLeft of order) {
    const event = (takeLeft ? left : right).shift();
    if (event !== undefined) events.push(event);
  }
  return [...events, ...left, ...right];
};

const straight = (one: Built): readonly Recorded[] => [...one.lineage, ...one.directory];

describe.each(projections)('projection $name', ({ bytes, inBatches, prefixAfterwards }) => {
  it('G10 gives the same bytes at batch sizes 1, 7 and 1000, a checkpoint between all batches', () => {
    fc.assert(
      fc.property(built, (one) => {
        const events = straight(one);
        const expected = bytes(events);
        for (const size of [1, 7, 1000]) expect(inBatches(events, size)).toBe(expected);
      }),
      { numRuns: 40 },
    );
  });

  it('G10 gives the same bytes from every checkpoint', () => {
    fc.assert(
      fc.property(built, (one) => {
        const events = straight(one).slice(0, 25);
        const expected = bytes(events);
        for (let size = 1; size <= events.length; size += 1) {
          expect(inBatches(events, size)).toBe(expected);
        }
      }),
      { numRuns: 15 },
    );
  });

  it('G10 does not depend on how directory and branch interleave', () => {
    fc.assert(
      fc.property(built, fc.array(fc.boolean(), { maxLength: 80 }), (one, order) => {
        expect(bytes(merged(one, order))).toBe(bytes(straight(one)));
      }),
      { numRuns: 60 },
    );
  });

  it('G9 a view once given does not change when the fold goes on', () => {
    fc.assert(
      fc.property(built, fc.nat({ max: 60 }), (one, length) => {
        const events = straight(one);
        expect(prefixAfterwards(events, length)).toBe(bytes(events.slice(0, length)));
      }),
      { numRuns: 40 },
    );
  });
});

describe('history, for any log', () => {
  const view = (events: readonly Recorded[]) => project(history, events);

  it('CX5 reverting all compactions leaves every message as if there had been none', () => {
    fc.assert(
      fc.property(built, ({ lineage: events, directory }) => {
        const without = [...events, ...directory].filter(
          ({ event }) => event?.type !== 'ContextCompacted' && event?.type !== 'CompactionReverted',
        );
        const fork = buildBranch('undo');
        for (const { event } of events) {
          if (event?.type !== 'ContextCompacted') continue;
          const { compaction } = event.data;
          fork.add({ type: 'CompactionReverted', data: { compaction, at: refOf(events[0]!) } });
        }
        const undone = view([...events, ...fork.events, ...directory]);
        expect(undone.live).toEqual([]);
        const told = ({ entries }: ReturnType<typeof view>) =>
          entries.map(({ sequence: _sequence, ...entry }) => entry);
        expect(told(undone)).toEqual(told(view(without)));
      }),
      { numRuns: 100 },
    );
  });

  it('CX5 compactions in force are told apart by what they cover, and none lies within a later one', () => {
    fc.assert(
      fc.property(built, (one) => {
        const { live } = view(straight(one));
        live.forEach(({ covered }, index) => {
          for (const later of live.slice(index + 1)) {
            const within = covered.length > 0 && covered.every((id) => later.covered.includes(id));
            expect(within).toBe(false);
          }
        });
      }),
      { numRuns: 100 },
    );
  });

  it('CX5 exposure knows at each revision the compactions that history tells as in force', () => {
    fc.assert(
      fc.property(built, ({ lineage: events }) => {
        for (let length = 0; length <= events.length; length += 1) {
          const prefix = events.slice(0, length);
          const { covers, generations } = project(exposure, prefix);
          const live = generations.at(-1)?.map((index) => covers[index]?.compaction);
          expect(live).toEqual(view(prefix).live.map(({ entry }) => entry.data.compaction));
        }
      }),
      { numRuns: 60 },
    );
  });

  it('MS3 a redacted message is redacted on the parent and on every fork that sees it', () => {
    fc.assert(
      fc.property(built, (one) => {
        const redacted = new Set(
          one.directory.flatMap(({ event }) =>
            event?.type === 'MessageRedacted' ? [event.data.message.hash] : [],
          ),
        );
        const parent = one.lineage.filter(({ meta }) => meta.branch === uid('main'));
        for (const events of [parent, one.lineage]) {
          for (const entry of view([...one.directory, ...events]).entries) {
            if (redacted.has(entry.place.hash)) expect(entry.redacted).toBeDefined();
          }
        }
      }),
      { numRuns: 100 },
    );
  });

  it('OR1 entries stand in the order of the log', () => {
    fc.assert(
      fc.property(built, (one) => {
        const places = view(straight(one)).entries.map(({ sequence }) => sequence);
        expect(places).toEqual([...places].sort((a, b) => a - b));
      }),
      { numRuns: 50 },
    );
  });
});
