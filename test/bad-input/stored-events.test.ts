import { beforeEach, describe, expect, it } from 'vitest';
import { openaiChat, openStemma, type Branch } from '../../src/index.js';
import { changing, exported, foreignWrite, lensed, streamsOf, type Lensed } from './tampering.js';
import { faultOf, refused, tagOf, textsOf, utf8, watch } from './support.js';

const profile = openaiChat({ model: 'm' });
const SECRET = 'words nobody may read';

let store: Lensed;
let main: Branch;
let own: string;
let directory: string;

/** A conversation of five events on its main branch: opened, four messages. */
beforeEach(async () => {
  store = await lensed();
  main = await store.stemma.start({ id: 'conversation' });
  for (const index of [1, 2, 3, 4]) {
    await main.append({
      id: `m-${String(index)}`,
      role: 'user',
      content: `${SECRET} ${String(index)}`,
    });
  }
  ({ own, directory } = await streamsOf(store, main));
});

/** Everything that decides, or gives history or a context to a model. */
const decisions = (branch: Branch): readonly (() => unknown)[] => [
  () => branch.append({ role: 'user', content: 'x' }),
  () => branch.history(),
  () => branch.surface(),
  () => branch.historyPage(),
  () => branch.preview({ profile }),
  () => branch.request({ profile }),
  () => branch.session(),
  () => branch.instructions('x'),
  () => branch.withdraw(['m-1']),
  () => branch.fork({ revision: 1 }),
  () => branch.compact({ strategy: 'keep-last', keepLast: 1 }),
];

describe('events of another build', () => {
  it('B40 passes by an unknown event that may be skipped, shows it and carries it over exactly', async () => {
    const data = '{"z":1,"a":12345678901234567890,"a":"\\ud800"}';
    const foreign = { type: 'PluginNoted', data, meta: { compat: 'skip' } };
    const revision = await foreignWrite(store, own, foreign);
    const [after] = await main.append({ id: 'm-5', role: 'user', content: 'five' });
    expect(after?.place.revision).toBe(revision + 1);
    expect((await main.preview({ profile })).body.messages).toHaveLength(5);
    const { events } = await main.events();
    expect(events[revision]).toMatchObject({
      type: 'PluginNoted',
      state: 'unknown',
      reason: 'type',
      compat: 'skip',
      data,
    });
    expect((await main.timeline()).items[revision]).toMatchObject({
      type: 'PluginNoted',
      unknown: { version: 1, reason: 'type' },
    });
    expect(await store.stemma.verify()).toMatchObject({
      ok: true,
      unknown: [{ type: 'PluginNoted', events: 1 }],
    });
    const lines = await exported(store.stemma, 'conversation');
    const other = await watch();
    await other.stemma.import(utf8(lines.join('\n')));
    const copy = (await other.events()).find(({ type }) => type === 'PluginNoted');
    const original = (await store.events()).find(({ type }) => type === 'PluginNoted');
    expect(copy).toMatchObject({ data, meta: original?.meta, id: original?.id });
  });

  it.each([
    ['B40', 'type', { type: 'SomethingNew' }, { type: 'SomethingNew', version: 1 }],
    [
      'B41',
      'version',
      { type: 'MessageAppended', meta: { sv: '2' } },
      { type: 'MessageAppended', version: 2 },
    ],
    [
      'B41',
      'version',
      { type: 'BranchLabelled', meta: { sv: '999' } },
      { type: 'BranchLabelled', version: 999 },
    ],
  ] as const)(
    '%s stops decisions and contexts at an unknown mandatory %s, and nothing else',
    async (_row, reason, foreign, named) => {
      const revision = await foreignWrite(store, own, foreign);
      const fault = { _tag: 'UnknownEvent', ...named, revision, reason };
      for (const branch of [main, await (await store.reopened()).open('conversation')]) {
        for (const decision of decisions(branch)) {
          expect(await refused(store, decision, [SECRET])).toEqual(fault);
        }
        expect((await branch.timeline()).items).toHaveLength(revision + 1);
        expect((await branch.events()).events.at(-1)).toMatchObject({ state: 'unknown', reason });
      }
      expect(await store.stemma.verify('conversation')).toMatchObject({
        ok: true,
        unknown: [{ type: named.type, events: 1 }],
      });
      const lines = await exported(store.stemma, 'conversation');
      const ofBranch = lines.filter((line) => line.startsWith(`{"stream":"${own}"`));
      expect(ofBranch).toHaveLength(revision + 1);
      // What was before it can be read, and forks from before it live on.
      expect((await main.history({ revision: revision - 1 })).entries).toHaveLength(4);
    },
  );

  it('B40 leaves other branches and conversations alone', async () => {
    const fork = await main.fork({ after: 'm-2' });
    const other = await store.stemma.start({ id: 'other' });
    await foreignWrite(store, own);
    await fork.append({ role: 'user', content: 'x' });
    await other.append({ role: 'user', content: 'y' });
    expect(await textsOf(fork)).toEqual([`${SECRET} 1`, `${SECRET} 2`, 'x']);
    const late = await main.append({ role: 'user' }).catch((error: unknown) => error);
    expect(late).toMatchObject({ code: 'UnknownEvent' });
  });

  it('B40 holds back a fork from behind the unknown event', async () => {
    const revision = await foreignWrite(store, own);
    expect(await refused(store, () => main.fork({ revision }))).toMatchObject({
      _tag: 'UnknownEvent',
      revision,
    });
  });

  it('B40 stops at an unknown mandatory event of the directory, which may hide a redaction', async () => {
    const revision = await foreignWrite(store, directory, { type: 'MessageHidden' });
    const fault = {
      _tag: 'UnknownEvent',
      type: 'MessageHidden',
      version: 1,
      revision,
      reason: 'type',
    };
    const fresh = await (await store.reopened()).open('conversation');
    for (const branch of [main, fresh]) {
      for (const decision of [
        () => branch.history(),
        () => branch.preview({ profile }),
        () => branch.request({ profile }),
        () => branch.redact('m-1'),
        () => branch.promote(),
        () => branch.close(),
        () => branch.fork({ revision: 1 }),
      ]) {
        expect(await refused(store, decision, [SECRET])).toEqual(fault);
      }
      expect((await branch.timeline()).directory.at(-1)?.type).toBe('MessageHidden');
    }
    expect(await store.stemma.verify('conversation')).toMatchObject({ ok: true });
    expect(await exported(store.stemma, 'conversation')).not.toHaveLength(0);
  });

  it('B41 reads a newer version that it was given an upcast for', async () => {
    const text = 'from the future';
    const message = {
      id: 'm-9',
      role: 'user',
      body: text,
      toolCalls: [],
      provenance: { kind: 'app' },
      trust: 'user',
      status: 'confirmed',
      contentDigest: 'c1.s1:x',
    };
    await foreignWrite(store, own, {
      type: 'MessageAppended',
      data: JSON.stringify({ message }),
      meta: { sv: '2' },
    });
    const stemma = await openStemma({
      store: store.stores,
      upcasts: {
        'MessageAppended@2': (data) => {
          const { body, ...rest } = (data as { readonly message: { readonly body: string } })
            .message;
          const blocks = { slot: 's', inline: JSON.stringify([{ type: 'text', text: body }]) };
          return { message: { ...rest, blocks } };
        },
      },
    });
    const branch = await stemma.open('conversation');
    expect((await textsOf(branch)).at(-1)).toBe(text);
  });

  it.each(['', '0', '01', '1.5', '-1', 'x', '1e3', '9'.repeat(10)])(
    'B41 takes the schema version %j for damage',
    async (sv) => {
      await foreignWrite(store, own, { meta: { sv } });
      expect(await refused(store, () => main.append({ role: 'user' }))).toMatchObject({
        _tag: 'Damaged',
        check: 'payload',
      });
    },
  );

  it('B41 refuses an unknown format by its name', async () => {
    const revision = await foreignWrite(store, own, { meta: { fmt: 'stemma/9' } });
    for (const decision of [() => main.append({ role: 'user' }), () => main.history()]) {
      expect(await refused(store, decision)).toEqual({ _tag: 'UnknownFormat', fmt: 'stemma/9' });
    }
    expect((await main.events()).events[revision]?.state).toBe('unknown');
  });

  it.each([
    ['no JSON', { type: 'MessageAppended', data: `{"message":${SECRET}` }],
    ['an empty text', { type: 'MessageAppended', data: '' }],
    ['another shape', { type: 'MessageAppended', data: `{"message":"${SECRET}"}` }],
    ['a list', { type: 'TurnStarted', data: '[]' }],
    ['null', { type: 'TurnStarted', data: 'null' }],
    ['a field that is not known', { type: 'TurnStarted', data: '{"turn":"t","run":"r","x":1}' }],
    ['an envelope that is no JSON', { metaText: SECRET }],
    ['an envelope without its fields', { metaText: '{"fmt":"stemma/0"}' }],
    ['an envelope that is a list', { metaText: '[]' }],
  ])(
    'B42 keeps an event with %s apart, names its place, and reads the rest',
    async (_what, foreign) => {
      const fork = await main.fork({ after: 'm-4' });
      const revision = await foreignWrite(store, own, foreign);
      const fresh = await (await store.reopened()).open('conversation');
      for (const branch of [main, fresh]) {
        for (const decision of decisions(branch)) {
          expect(await refused(store, decision, [SECRET])).toEqual({
            _tag: 'Damaged',
            stream: own,
            revision,
            check: 'payload',
          });
        }
        const { events } = await branch.events();
        expect(events.map(({ state }) => state)).toEqual([
          'known',
          'known',
          'known',
          'known',
          'known',
          'damaged',
        ]);
        expect((await branch.history({ revision: revision - 1 })).entries).toHaveLength(4);
      }
      expect(await textsOf(fork)).toHaveLength(4);
      expect((await store.stemma.conversations()).map(({ id }) => id)).toEqual(['conversation']);
      const { ok, faults } = await store.stemma.verify();
      expect({ ok, faults }).toMatchObject({ ok: false, faults: [{ stream: own, revision }] });
    },
  );

  it('B42 shows what stands behind a damaged event', async () => {
    store.look(
      changing(own, 2, (event) => ({ ...event, data: event.data.replace('"user"', '"root"') })),
    );
    const fresh = await (await store.reopened()).open('conversation');
    const { events } = await fresh.events({ reverse: true });
    expect(events.map(({ revision, state, check }) => [revision, state, check])).toEqual([
      [4, 'known', undefined],
      [3, 'known', undefined],
      [2, 'damaged', 'hash'],
      [1, 'known', undefined],
      [0, 'known', undefined],
    ]);
  });

  it('B42 does not let content that is none pass for an erased message', async () => {
    const message = JSON.parse((await main.events()).events[1]?.data ?? '{}') as {
      readonly message: object;
    };
    const broken = { ...message.message, id: 'm-9', blocks: { slot: 's', inline: SECRET } };
    const data = JSON.stringify({ message: broken });
    const revision = await foreignWrite(store, own, { type: 'MessageAppended', data });
    expect(await faultOf(() => main.surface(), [SECRET])).toMatchObject({
      _tag: 'Damaged',
      revision,
      check: 'payload',
    });
    expect(await tagOf(() => main.preview({ profile }))).toBe('Damaged');
  });
});
