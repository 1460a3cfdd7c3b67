import * as E from 'fp-ts/lib/Either.js';
import { decodeWith } from '../domain/codec.js';
import type { FaultOf } from '../domain/errors.js';
import type { Shortening, StoredMessage } from '../domain/events/message-events.js';
import { Blocks, type Block, type Message } from '../domain/message.js';
import type { Opened, Slot } from '../domain/slot.js';
import type {
  EffectiveInstructions,
  LiveCompaction,
  StateReason,
  Surface,
  SurfaceItem,
} from '../domain/surface.js';
import type { EventRef } from '../domain/events/references.js';
import type {
  CompactionEntry,
  Fate,
  History,
  InstructionsEntry,
  LiveEntry,
  MessageEntry,
} from './history.js';

/** Gives the text of a slot that was opened before, or says that it was erased. */
export type Open = (slot: Slot) => Opened;

/** The branch and the revisions that a surface is of. */
export type SurfaceOf = Pick<Surface, 'conversation' | 'branch' | 'revision' | 'directoryRevision'>;

const storedSlots = (message: StoredMessage): readonly Slot[] => [
  message.blocks,
  ...message.toolCalls.map((call) => call.arguments),
  ...(message.metadata === undefined ? [] : [message.metadata]),
  ...(message.raw === undefined ? [] : [message.raw.text]),
];

const messages = (history: History): readonly MessageEntry[] =>
  history.entries.filter((entry) => entry.kind !== 'instructions');

/** Versions in force; one that was hidden or withdrawn leaves its slot name empty. */
const inForce = (history: History): readonly InstructionsEntry[] =>
  [...history.instructions.values()].filter(
    (entry) =>
      entry.redacted === undefined && entry.withdrawn === undefined && entry.status === 'confirmed',
  );

const standsIn = ({ data, fate }: CompactionEntry): StoredMessage | undefined =>
  fate.redacted === undefined && fate.withdrawn === undefined && fate.status === 'confirmed'
    ? data.replacement
    : undefined;

/** Shortened texts of messages that are not redacted. */
const shorteningsOf = (history: History, { entry }: LiveEntry): readonly Shortening[] => {
  const { shortened } = entry.data;
  if (shortened.length === 0) return shortened;
  const hidden = new Set(
    messages(history)
      .filter(({ redacted }) => redacted !== undefined)
      .map(({ message }) => message.id),
  );
  return shortened.filter(({ messageId }) => !hidden.has(messageId));
};

/** Every slot whose text `surfaceOf` asks for. What is redacted is not asked for. */
export const slotsOf = (history: History): readonly Slot[] => [
  ...inForce(history).map((entry) => entry.content),
  ...messages(history).flatMap((entry) =>
    entry.redacted === undefined
      ? [
          ...storedSlots(entry.message),
          ...(entry.foreignCallId === undefined ? [] : [entry.foreignCallId]),
        ]
      : [],
  ),
  ...history.live.flatMap((live) => {
    const replacement = standsIn(live.entry);
    return [
      ...(replacement === undefined ? [] : storedSlots(replacement)),
      ...shorteningsOf(history, live).map(({ text }) => text),
    ];
  }),
];

const blocksOf = (opened: Opened): readonly Block[] | undefined => {
  if (opened._tag === 'erased') return undefined;
  try {
    const blocks = decodeWith(Blocks, JSON.parse(opened.text) as unknown);
    return E.isRight(blocks) ? blocks.right : undefined;
  } catch {
    return undefined;
  }
};

const textIn = (open: Open, slot: Slot | undefined): string | undefined => {
  const opened = slot === undefined ? undefined : open(slot);
  return opened?._tag === 'text' ? opened.text : undefined;
};

interface Filled {
  readonly message: Message;
  readonly erased: boolean;
}

/** The message with its content at hand. Without `open` (redacted) nothing of it is read. */
const fill = (
  stored: StoredMessage,
  open: Open | undefined,
  result?: Pick<MessageEntry, 'calls' | 'foreignCallId' | 'outcome' | 'late'>,
): Filled => {
  const read = open ?? (() => ({ _tag: 'erased' }) as const);
  const blocks = blocksOf(read(stored.blocks));
  const args = stored.toolCalls.map((call) => textIn(read, call.arguments));
  const [metadata, raw] = [textIn(read, stored.metadata), textIn(read, stored.raw?.text)];
  const foreignCallId = textIn(read, result?.foreignCallId);
  const { id, role, name, author, provenance, trust, status, pinned, partOf, claimedAt } = stored;
  const { outcome, late } = result ?? {};
  return {
    erased: blocks === undefined || args.includes(undefined),
    message: {
      id,
      role,
      blocks: blocks ?? [],
      ...(name === undefined ? {} : { name }),
      toolCalls: stored.toolCalls.map((call, index) => ({
        id: call.id,
        name: call.name,
        arguments: args[index] ?? '',
      })),
      answers: result?.calls ?? [],
      ...(foreignCallId === undefined ? {} : { foreignCallId }),
      ...(outcome === undefined ? {} : { outcome }),
      ...(late === undefined ? {} : { late }),
      ...(author === undefined ? {} : { author }),
      provenance,
      trust,
      status,
      ...(pinned === undefined ? {} : { pinned }),
      ...(metadata === undefined ? {} : { metadata }),
      ...(raw === undefined || stored.raw === undefined
        ? {}
        : { raw: { system: stored.raw.system, text: raw } }),
      ...(partOf === undefined ? {} : { partOf }),
      ...(claimedAt === undefined ? {} : { claimedAt }),
    },
  };
};

/** The reason that the log has for leaving a message out: the strongest of several. */
const outOf = (fate: Fate, erased: boolean, place: EventRef): SurfaceItem['out'] => {
  const because = (reason: StateReason, cause: EventRef): SurfaceItem['out'] => ({ reason, cause });
  if (fate.redacted !== undefined) return because('redacted', fate.redacted);
  if (erased) return because('erased', place);
  if (fate.withdrawn !== undefined) return because('withdrawn', fate.withdrawn);
  return fate.status === 'confirmed' ? undefined : because(fate.status, fate.statusCause ?? place);
};

const itemOf = (entry: MessageEntry, open: Open): SurfaceItem => {
  const { message, erased } = fill(
    entry.message,
    entry.redacted === undefined ? open : undefined,
    entry,
  );
  const out = outOf(entry, erased, entry.place);
  return {
    message,
    place: entry.place,
    at: entry.at,
    status: entry.status,
    ...(out === undefined ? {} : { out }),
    closedCalls: entry.closedCalls,
  };
};

/**
 * Messages in the order in which a model reads: log order, but a message that replaces a superseded
 * one (its `origin`) stands where that one stood.
 */
export const surfaceOrder = (history: History): readonly MessageEntry[] => {
  const entries = messages(history);
  const byId = new Map(entries.map((entry) => [entry.message.id, entry] as const));
  const anchorOf = new Map<string, number>();
  for (const entry of entries) {
    const original = byId.get(entry.message.origin ?? '');
    const replaces =
      original?.status === 'superseded' && original.sequence < entry.sequence
        ? original
        : undefined;
    // Entries come in log order, so the anchor of the original is known here.
    const anchor = replaces === undefined ? undefined : anchorOf.get(replaces.message.id);
    anchorOf.set(entry.message.id, anchor ?? entry.sequence);
  }
  const placeIn = (entry: MessageEntry): number => anchorOf.get(entry.message.id) ?? entry.sequence;
  return [...entries].sort((a, b) => placeIn(a) - placeIn(b) || a.sequence - b.sequence);
};

const instructionsOf = (history: History, open: Open): readonly EffectiveInstructions[] =>
  inForce(history).flatMap(({ name, version, role, messageId, content, place }) => {
    const text = textIn(open, content);
    return text === undefined ? [] : [{ name, version, role, messageId, text, place }];
  });

const compactionOf = (history: History, live: LiveEntry, open: Open): LiveCompaction => {
  const { entry, covered, changed } = live;
  const { compaction, strategy, trust } = entry.data;
  const stored = standsIn(entry);
  const filled = stored === undefined ? undefined : fill(stored, open);
  return {
    compaction,
    place: entry.place,
    covered,
    ...(filled === undefined || filled.erased ? {} : { replacement: filled.message }),
    shortened: new Map(
      shorteningsOf(history, live).flatMap(({ messageId, text }) => {
        const opened = textIn(open, text);
        return opened === undefined ? [] : [[messageId, opened] as const];
      }),
    ),
    strategy,
    trust,
    changed,
  };
};

/**
 * The branch as a context is built from it. Content that cannot be opened makes its message
 * `erased`; whether stored content is readable at all is told by `unreadable`.
 */
export const surfaceOf = (history: History, open: Open, of: SurfaceOf): Surface => ({
  ...of,
  instructions: instructionsOf(history, open),
  items: surfaceOrder(history).map((entry) => itemOf(entry, open)),
  compactions: history.live.map((live) => compactionOf(history, live, open)),
});

/** Messages whose content was opened and is not what this format writes (B42). */
export const unreadable = (history: History, open: Open): readonly FaultOf<'Damaged'>[] =>
  messages(history).flatMap((entry) => {
    if (entry.redacted !== undefined) return [];
    const opened = open(entry.message.blocks);
    return opened._tag === 'text' && blocksOf(opened) === undefined
      ? [{ _tag: 'Damaged', revision: entry.place.revision, check: 'payload' } as const]
      : [];
  });
