import * as E from 'fp-ts/lib/Either.js';
import { describe, expect, it } from 'vitest';
import type { StemmaFault } from '../../../src/domain/errors.js';
import {
  blobLine,
  eventLine,
  headerLine,
  readExchange,
  type ExchangeFile,
} from '../../../src/infra/importers/stemma-jsonl.js';
import { utf8 } from './sessions.js';

const event = (revision: number) => ({
  stream: 'branch-a.b.c',
  revision,
  id: `id-${String(revision)}`,
  type: 'MessageAppended',
  meta: '{"fmt":"stemma/0"}',
  data: '{"text":"é \\ud800 \\n"}',
});

const header = {
  format: 'stemma-jsonl/0',
  producer: 'stemma/test',
  conversations: ['b'],
  events: 2,
};

const lines = [
  headerLine(header),
  eventLine(event(0)),
  blobLine({ blob: 'name', bytes: 'AAEC' }),
  eventLine(event(1)),
];
const file = utf8(`${lines.join('\n')}\n`);

const read = (bytes: Uint8Array, salvage = false): ExchangeFile => {
  const result = readExchange(bytes, { salvage });
  if (E.isLeft(result)) throw new Error(JSON.stringify(result.left));
  return result.right;
};

const fault = (bytes: Uint8Array, salvage = false): StemmaFault => {
  const result = readExchange(bytes, { salvage });
  if (E.isRight(result)) throw new Error('it was not refused');
  return result.left;
};

describe('exchange lines', () => {
  it('MS4 give back what was written, text by text', () => {
    expect(read(file)).toEqual({
      header,
      events: [event(0), event(1)],
      blobs: [{ name: 'name', bytes: Uint8Array.from([0, 1, 2]) }],
      lines,
      notes: [],
    });
    expect(read(utf8(`\uFEFF${lines.join('\n')}`)).notes).toEqual([
      { code: 'byte_order_mark', line: 1 },
    ]);
  });

  it('B58 cut at any byte are refused, and salvaged up to the last whole line', () => {
    const ends = [...file.keys()].filter((at) => file[at] === 0x0a);
    for (let cut = (ends[0] ?? 0) + 1; cut < file.length - 1; cut += 1) {
      const torn = file.subarray(0, cut);
      expect(fault(torn)._tag).toBe('TruncatedInput');
      const { events, header: kept, notes } = read(torn, true);
      const whole = ends.filter((at) => at <= cut).length;
      expect(kept.events).toBe(events.length);
      expect(events.length).toBe(whole >= 2 ? 1 : 0);
      expect(notes.length).toBeGreaterThan(0);
    }
  });

  it('B58 without all the events that the header promises are cut', () => {
    const short = utf8(`${lines.slice(0, 2).join('\n')}\n`);
    expect(fault(short)).toEqual({ _tag: 'TruncatedInput', line: 2, offset: short.length });
    expect(read(short, true)).toMatchObject({
      header: { events: 1 },
      notes: [{ code: 'missing_events', detail: '1' }],
    });
  });

  it('MS2 of another shape are refused by line and place', () => {
    const with1 = (line: string) => utf8([lines[0], line, lines[1], lines[3]].join('\n'));
    expect(fault(utf8(`${lines[1] ?? ''}\n`))).toEqual({
      _tag: 'InvalidShape',
      path: '/1',
      expected: 'header',
    });
    expect(fault(with1(lines[0] ?? ''))).toMatchObject({ _tag: 'InvalidShape', path: '/2' });
    expect(fault(with1('[]'))).toMatchObject({ _tag: 'InvalidShape', path: '/2' });
    expect(fault(with1('{"stream":1}'))).toMatchObject({ _tag: 'InvalidShape' });
    expect(fault(with1('{"blob":"x","bytes":"A"}'))).toMatchObject({
      _tag: 'InvalidShape',
      path: '/2/bytes',
    });
    expect(fault(with1('{"stream":"x","stream":"y"}'))).toMatchObject({ _tag: 'DuplicateKey' });
    expect(fault(with1('{"__proto__":{}}'))).toMatchObject({ _tag: 'ForbiddenKey' });
    expect(fault(with1('oops'))).toMatchObject({ _tag: 'InvalidJson' });
    expect(fault(with1('oops'), true)).toMatchObject({ _tag: 'InvalidJson' });
    expect(fault(utf8(''))).toMatchObject({ _tag: 'InvalidShape', expected: 'stemma JSONL' });
    expect(
      fault(utf8('{"format":"stemma-jsonl/9","producer":"","conversations":[],"events":0}')),
    ).toEqual({ _tag: 'UnknownFormat', fmt: 'stemma-jsonl/9' });
  });

  it('B58 with more events than promised are refused', () => {
    const more = utf8([...lines, eventLine(event(2))].join('\n'));
    expect(fault(more, true)).toMatchObject({ _tag: 'InvalidShape', path: '/1/events' });
  });

  it('B20 that are no UTF-8 are refused by line and byte', () => {
    const bad = Uint8Array.from([
      ...utf8(`${lines[0] ?? ''}\n`),
      0xff,
      0x0a,
      ...utf8(lines[1] ?? ''),
    ]);
    expect(fault(bad)).toMatchObject({ _tag: 'InvalidUtf8', line: 2 });
    expect(fault(bad, true)).toMatchObject({ _tag: 'InvalidUtf8', line: 2 });
  });
});
