import fs from 'node:fs';
import { fileURLToPath } from 'node:url';
import * as E from 'fp-ts/lib/Either.js';
import { describe, expect, it } from 'vitest';
import { blobName, lookupKey } from '../../src/domain/digest.js';
import { encodeEvent } from '../../src/domain/events/catalog.js';
import { readStored, type Recorded } from '../../src/domain/recorded.js';
import type { Slot } from '../../src/domain/slot.js';
import type { SurfaceItem } from '../../src/domain/surface.js';
import { openStemma, type Branch, type Stemma } from '../../src/index.js';
import { utf8, watch, watchBranch, type Watched } from '../bad-input/support.js';
import { exported, foreignWrite, streamsOf } from '../bad-input/tampering.js';

interface Probe {
  readonly about: string;
  readonly system: string;
  /** Records of the foreign system, word for word. */
  readonly foreign: readonly string[];
  /** Ids of the keys that seal its slots, as the envelope has them. */
  readonly kids?: string;
  readonly blobs?: Readonly<Record<string, string>>;
  readonly events: readonly { readonly type: string; readonly data: unknown }[];
  /** What each message means, in the order in which a model reads. */
  readonly canonical: readonly (readonly string[])[];
}

const folder = new URL('./probes/', import.meta.url);

const probes: readonly (readonly [string, Probe])[] = fs
  .readdirSync(fileURLToPath(folder))
  .filter((name) => name.endsWith('.json'))
  .map((name) => [
    name,
    JSON.parse(fs.readFileSync(new URL(name, folder), 'utf8')) as Probe,
  ]);

interface Written {
  readonly watched: Watched;
  readonly branch: Branch;
  /** The exact data texts that were stored. */
  readonly texts: readonly string[];
}

const refOf = (recorded: Recorded): object => ({
  branch: recorded.meta.branch,
  revision: recorded.revision,
  hash: recorded.hash,
});

const idIn = (data: unknown): string | undefined =>
  (data as { readonly message?: { readonly id?: string } }).message?.id;

/** Puts what only the store knows in place of the marks of a probe. */
const filled = (
  value: unknown,
  probe: Probe,
  at: { readonly branch: Branch; readonly written: readonly Recorded[] },
): unknown => {
  if (typeof value === 'string') {
    const [, kind, number = ''] = /^@(foreign|message|blob) (\d+)$/.exec(value) ?? [];
    if (kind === 'foreign') return probe.foreign[Number(number)];
    if (kind === 'message') {
      const recorded = at.written[Number(number)];
      const id = idIn(probe.events[Number(number)]?.data);
      return recorded === undefined ? value : { id, ...refOf(recorded) };
    }
    if (kind === 'blob') return blobName(at.branch.conversation, blobBytes(probe, number));
    return value === '@branch' ? at.branch.branch : value;
  }
  if (Array.isArray(value)) return value.map((item: unknown) => filled(item, probe, at));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, item]: [string, unknown]) => [key, filled(item, probe, at)]),
  );
};

/** A blob is the JSON text of its string, so that half a surrogate pair comes back as it went in. */
const blobBytes = (probe: Probe, name: string): Uint8Array => {
  const text = probe.blobs?.[name] ?? '';
  const [, foreign] = /^@foreign (\d+)$/.exec(text) ?? [];
  return utf8(JSON.stringify(foreign === undefined ? text : probe.foreign[Number(foreign)]));
};

/** Writes the events of a probe behind the opening of a branch, as another build would. */
const write = async (probe: Probe): Promise<Written> => {
  const watched = await watchBranch();
  const { branch } = watched;
  const { own } = await streamsOf(watched, branch);
  const tenant = /^branch-([\w-]{22})/.exec(own)?.[1] ?? '';
  for (const name of Object.keys(probe.blobs ?? {})) {
    const bytes = blobBytes(probe, name);
    const put = await watched.stores.blobs.put(tenant, blobName(branch.conversation, bytes), bytes)();
    expect(E.isRight(put)).toBe(true);
  }
  const written: Recorded[] = [];
  const texts: string[] = [];
  for (const event of probe.events) {
    const data = JSON.stringify(filled(event.data, probe, { branch, written }));
    const id = idIn(event.data);
    const keys = id === undefined ? {} : { keys: lookupKey(branch.conversation, 'message', id) };
    const kids = probe.kids === undefined ? {} : { kids: probe.kids };
    await foreignWrite(watched, own, { type: event.type, data, meta: { ...keys, ...kids } });
    const stored = (await watched.events()).at(-1);
    const recorded = stored && readStored(stored);
    if (recorded === undefined || E.isLeft(recorded)) throw new Error(`${event.type} is unreadable`);
    written.push(recorded.right);
    texts.push(data);
  }
  return { watched, branch, texts };
};

/** The foreign records, from what is stored alone. */
const rawSlots = (recorded: Recorded): readonly Slot[] => {
  const { event } = recorded;
  if (event?.type === 'SourceRecordImported') return [event.data.raw];
  if (event?.type === 'MessageAppended' || event?.type === 'ToolResultAttached') {
    return event.data.message.raw === undefined ? [] : [event.data.message.raw.text];
  }
  const raw = event?.type === 'ContextCompacted' ? event.data.replacement?.raw : undefined;
  return raw === undefined ? [] : [raw.text];
};

const foreignOf = async (branch: Branch, watched: Watched): Promise<readonly string[]> => {
  const { own } = await streamsOf(watched, branch);
  const recorded = (await watched.events())
    .filter(({ stream }) => stream === own)
    .flatMap((stored) => {
      const read = readStored(stored);
      return E.isRight(read) ? [read.right] : [];
    });
  const slots = recorded.flatMap(rawSlots);
  const open = await branch.contents(slots);
  return slots.flatMap((slot) => {
    const opened = open(slot);
    return opened._tag === 'text' ? [opened.text] : [];
  });
};

const meaningOf = ({ message, out }: SurfaceItem): readonly string[] => [
  message.id,
  message.role,
  message.blocks.flatMap((block) => ('text' in block ? [block.text] : [])).join('|'),
  ...message.toolCalls.map((call) => `${call.id} ${call.name} ${call.arguments}`),
  ...(message.answers.length === 0
    ? []
    : [`answers ${message.answers.map((a) => `${a.messageId}/${String(a.index)}`).join(' ')}`]),
  ...(message.foreignCallId === undefined ? [] : [`foreign ${message.foreignCallId}`]),
  ...((message.outcome ?? 'ok') === 'ok' ? [] : [`outcome ${message.outcome ?? ''}`]),
  ...(out === undefined ? [] : [`out ${out.reason}`]),
];

const copyOf = async (stemma: Stemma, branch: Branch): Promise<Watched & { readonly branch: Branch }> => {
  const other = await watch();
  await other.stemma.import(utf8((await exported(stemma, branch.conversation)).join('\n')));
  return { ...other, branch: await other.stemma.open(branch.conversation) };
};

describe('foreign records carried by stored events', () => {
  it('are of every system that the format was made for', () => {
    expect(probes.map(([name]) => name).sort()).toEqual([
      'deepseek-harness.json',
      'erased-message.json',
      'langgraph.json',
      'openai-agents.json',
      'slot-forms.json',
      'smolagents.json',
      'streamed-call.json',
    ]);
  });

  it.each(probes)('UP1 %s: every event reads as it was written, byte for byte', async (_name, probe) => {
    const { watched, branch, texts } = await write(probe);
    const { events } = await branch.events();
    expect(events.slice(1).map(({ state }) => state)).toEqual(texts.map(() => 'known'));
    expect(events.slice(1).map(({ data }) => data)).toEqual(texts);
    // Reading and writing again gives the same bytes: nothing of them is dropped by a codec.
    for (const stored of await watched.events()) {
      const read = readStored(stored);
      if (E.isLeft(read) || read.right.event === undefined) throw new Error('unreadable');
      expect(encodeEvent(read.right.event)).toBe(stored.data);
    }
    expect(await watched.stemma.verify()).toMatchObject({ ok: true, unknown: [] });
  });

  it.each(probes)('MS4 %s: the foreign records come back word for word', async (_name, probe) => {
    const { watched, branch } = await write(probe);
    expect(await foreignOf(branch, watched)).toEqual(probe.foreign);
    const copy = await copyOf(watched.stemma, branch);
    expect(await foreignOf(copy.branch, copy)).toEqual(probe.foreign);
  });

  it.each(probes)('MS1 %s: what the records mean is there too', async (_name, probe) => {
    const { watched, branch } = await write(probe);
    const cold = await openStemma({ store: watched.stores });
    for (const at of [branch, await cold.open('conversation')]) {
      expect((await at.surface()).items.map(meaningOf)).toEqual(probe.canonical);
    }
    const copy = await copyOf(watched.stemma, branch);
    expect((await copy.branch.surface()).items.map(meaningOf)).toEqual(probe.canonical);
    expect((await branch.append({ role: 'user', content: 'and on' }))[0]?.status).toBe('written');
  });

  it('RL5 the interrupted call is failed with its partial, and the second attempt completed', async () => {
    const [, probe] = probes.find(([name]) => name === 'streamed-call.json') ?? [];
    if (probe === undefined) throw new Error('no probe');
    const { branch } = await write(probe);
    const { calls } = await branch.calls();
    expect(calls.map(({ modelCallId, attempt, state }) => [modelCallId, attempt, state])).toEqual([
      ['call-1', 1, 'failed'],
      ['call-2', 2, 'completed'],
    ]);
    expect(calls[0]?.failure?.partial?.id).toBe('m-call-1');
    expect(await branch.session()).toMatchObject({ next: 'user', toolCalls: [], modelCalls: [] });
    expect((await branch.session()).turn).toBeUndefined();
  });

  it('ER1 a sealed slot that cannot be opened is erased everywhere and known by its key', async () => {
    const [, probe] = probes.find(([name]) => name === 'erased-message.json') ?? [];
    if (probe === undefined) throw new Error('no probe');
    const { watched, branch } = await write(probe);
    const stored = (await branch.events()).events.at(1);
    expect(JSON.parse(stored?.meta ?? '{}')).toMatchObject({ kids: 'subject-7 conversation-1' });
    expect((await branch.surface()).instructions).toEqual([]);
    const [entry] = (await branch.history()).entries;
    const blocks = entry !== undefined && 'message' in entry ? entry.message.blocks : undefined;
    if (blocks === undefined) throw new Error('no entry');
    expect((await branch.contents([blocks]))(blocks)).toEqual({ _tag: 'erased' });
    expect((await watched.stemma.search('paid')).hits).toHaveLength(1);
  });

  it('the compaction of a foreign surface stands for what it shadowed', async () => {
    const [, probe] = probes.find(([name]) => name === 'deepseek-harness.json') ?? [];
    if (probe === undefined) throw new Error('no probe');
    const { branch } = await write(probe);
    const [live] = (await branch.surface()).compactions;
    expect(live).toMatchObject({ covered: ['m-4', 'm-2', 'm-3'], strategy: 'deepseek-harness' });
    expect(live?.replacement?.blocks).toEqual([{ type: 'text', text: 'a payment failed' }]);
  });
});
