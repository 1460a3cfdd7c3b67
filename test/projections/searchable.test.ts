import { describe, expect, it } from 'vitest';
import type { Recorded } from '../../src/domain/recorded.js';
import type { Opened, Slot } from '../../src/domain/slot.js';
import {
  searchKey,
  searchSteps,
  searchText,
  startSearchFeed,
} from '../../src/projections/searchable.js';
import { addText, emptyIndex, removeText, searchTexts } from '../../src/projections/trigram.js';
import {
  answered,
  buildBranch,
  buildDirectory,
  compacted,
  CONVERSATION,
  inline,
  messageRefOf,
  opened,
  refOf,
  said,
  uid,
} from '../support/recorded-builder.js';

const open = (slot: Slot): Opened =>
  'inline' in slot ? { _tag: 'text', text: slot.inline } : { _tag: 'erased' };

const indexed = (...streams: readonly (readonly Recorded[])[]) => {
  const [index, feed] = [emptyIndex(), startSearchFeed()];
  for (const recorded of streams.flat()) {
    for (const step of searchSteps(feed, recorded)) {
      if (step._tag === 'remove') removeText(index, step.key);
      else addText(index, step.document.key, searchText(step.document, open));
    }
  }
  return index;
};

const keyAt = (name: string, revision: number): string =>
  searchKey(CONVERSATION, { branch: uid(name), revision });

const redact = (recorded: Recorded, id: string) =>
  ({
    type: 'MessageRedacted',
    data: { message: messageRefOf(recorded, id), authority: 'dpo' },
  }) as const;

describe('what can be searched', () => {
  it('B63 messages, arguments, results, summaries, instructions and titles', () => {
    const main = buildBranch('main');
    main.add(opened('main'));
    main.add(
      said('a1', 'assistant', 'apple', {
        toolCalls: [{ id: 'c', name: 'find', arguments: inline('{"fruit":"banana"}') }],
        metadata: inline('hidden'),
      }),
    );
    main.add(answered('t1', [['a1', 0, 'c']]));
    main.add(compacted('k', ['a1']));
    main.add({
      type: 'InstructionsRevised',
      data: {
        name: 'default',
        version: 1,
        owner: 'ops',
        role: 'system',
        messageId: 'i1',
        content: inline('cherry'),
        digest: 'd',
      },
    });
    const directory = buildDirectory();
    directory.add({
      type: 'ConversationStarted',
      data: { main: uid('main'), labels: [], title: inline('date') },
    });
    const index = indexed(main.events, directory.events);
    const found = (query: string) => searchTexts(index, query).keys;
    expect(found('apple')).toEqual([keyAt('main', 1)]);
    expect(found('banana')).toEqual([keyAt('main', 1)]);
    expect(found('result t1')).toEqual([keyAt('main', 2)]);
    expect(found('summary of')).toEqual([keyAt('main', 3)]);
    expect(found('cherry')).toEqual([keyAt('main', 4)]);
    expect(found('date')).toEqual([`${CONVERSATION}/-@0`]);
    expect(found('hidden')).toEqual([]);
    expect(found('type')).toEqual([]);
  });

  it('ER1 what is erased or unreadable gives no text', () => {
    const main = buildBranch('main');
    main.add(
      said('m', 'user', '', { blocks: { slot: 's', sealed: 'x', kid: 'k', alg: 'A256GCM' } }),
    );
    main.add(said('n', 'user', '', { blocks: inline('not json') }));
    expect(indexed(main.events).documents).toEqual([]);
  });

  it('MS3 a redaction takes a message and its copies out, however streams interleave', () => {
    const left = buildBranch('left');
    const source = left.add(said('m', 'user', 'secret'));
    const right = buildBranch('right');
    const merge = (id: string, origin: Recorded, of: string) => {
      right.add({
        type: 'BranchMerged',
        data: {
          from: refOf(origin),
          mode: 'pick',
          messages: [{ id, origin: messageRefOf(origin, of) }],
        },
      });
      return right.add(said(id, 'user', 'secret', { origin: of }));
    };
    const copy = merge('copy', source, 'm');
    merge('copy-2', copy, 'copy');
    right.add(said('other', 'user', 'not the secretary'));
    const directory = buildDirectory();
    directory.add(redact(source, 'm'));
    const [, l, r] = [directory.events, left.events, right.events];
    const d = directory.events;
    expect(searchTexts(indexed(l, r), 'secret').keys).toHaveLength(4);
    const orders = [
      [l, r, d],
      [r, l, d],
      [d, l, r],
      [d, r, l],
      [l, d, r],
      [r, d, l],
    ];
    for (const order of orders) {
      expect(searchTexts(indexed(...order), 'secret').keys).toEqual([keyAt('right', 4)]);
    }
  });

  it('MS3 a copy that was read before its original knew of its own redacted original goes too', () => {
    const [first, second, third] = [buildBranch('a'), buildBranch('b'), buildBranch('c')];
    const source = first.add(said('m', 'user', 'secret'));
    const merge = (to: typeof second, id: string, origin: Recorded, of: string) => {
      to.add({
        type: 'BranchMerged',
        data: {
          from: refOf(origin),
          mode: 'pick',
          messages: [{ id, origin: messageRefOf(origin, of) }],
        },
      });
      return to.add(said(id, 'user', 'secret', { origin: of }));
    };
    const copy = merge(second, 'copy', source, 'm');
    merge(third, 'copy-2', copy, 'copy');
    const directory = buildDirectory();
    directory.add(redact(source, 'm'));
    const index = indexed(third.events, directory.events, second.events, first.events);
    expect(searchTexts(index, 'secret').keys).toEqual([]);
  });
});
