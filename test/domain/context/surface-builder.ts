import type { EventRef } from '../../../src/domain/events/references.js';
import type { Uid } from '../../../src/domain/ids.js';
import type { AnsweredCall, Block, Message, Role, ToolCall } from '../../../src/domain/message.js';
import type {
  EffectiveInstructions,
  LiveCompaction,
  Surface,
  SurfaceItem,
} from '../../../src/domain/surface.js';

export const branch = 'branch0000000000000000' as Uid;
const conversation = 'conversation0000000000' as Uid;

export const place = (revision: number): EventRef => ({
  branch,
  revision,
  hash: `h${String(revision)}`,
});

/** A message in the shape in which tests are written; the rest is filled in. */
export interface Spec extends Partial<Omit<Message, 'toolCalls' | 'answers' | 'blocks'>> {
  readonly id: string;
  readonly role: Role;
  readonly text?: string;
  readonly blocks?: readonly Block[];
  readonly calls?: readonly (ToolCall | string)[];
  /** Provider ids of the calls answered: the nearest earlier open one of each. */
  readonly answers?: string | readonly string[];
  /** Surface state. */
  readonly out?: SurfaceItem['out'];
  readonly closed?: readonly number[];
  readonly state?: SurfaceItem['status'];
}

const toCall = (call: ToolCall | string): ToolCall =>
  typeof call === 'string' ? { id: call, name: `tool_${call}`, arguments: '{}' } : call;

const trustOf = (role: Role): Message['trust'] =>
  role === 'system' || role === 'developer'
    ? 'operator'
    : role === 'user'
      ? 'user'
      : role === 'tool'
        ? 'external'
        : 'model';

/** Items of a branch from specs; item n stands at revision 2n + 2. */
export const itemsOf = (specs: readonly Spec[]): readonly SurfaceItem[] => {
  const open: AnsweredCall[] = [];
  return specs.map((spec, index): SurfaceItem => {
    const { text, blocks, calls = [], answers = [], out, closed = [], state, ...rest } = spec;
    const toolCalls = calls.map(toCall);
    toolCalls.forEach((call, at) => open.push({ messageId: spec.id, index: at, callId: call.id }));
    const answered = (typeof answers === 'string' ? [answers] : answers).flatMap((callId) => {
      const at = open.findIndex((call) => call.callId === callId);
      return at < 0 ? [] : open.splice(at, 1);
    });
    const status = state ?? rest.status ?? 'confirmed';
    const message: Message = {
      provenance: { kind: 'app' },
      trust: trustOf(spec.role),
      ...rest,
      status,
      blocks: blocks ?? (text === undefined ? [] : [{ type: 'text', text }]),
      toolCalls,
      answers: answered,
      ...(spec.role === 'tool' && { outcome: rest.outcome ?? 'ok' }),
    };
    const at = '2026-01-01T00:00:00Z';
    const found =
      out ?? (status === 'confirmed' ? undefined : { reason: status, cause: place(99) });
    return {
      message,
      place: place(2 * index + 2),
      at,
      status,
      closedCalls: closed,
      ...(found !== undefined && { out: found }),
    };
  });
};

export interface SurfaceExtras {
  readonly instructions?: readonly EffectiveInstructions[];
  readonly compactions?: readonly LiveCompaction[];
}

export const surfaceOf = (specs: readonly Spec[], extras: SurfaceExtras = {}): Surface => ({
  conversation,
  branch,
  revision: 2 * specs.length + 2,
  directoryRevision: 0,
  instructions: extras.instructions ?? [],
  items: itemsOf(specs),
  compactions: extras.compactions ?? [],
});

/** A compaction that a summary stands for, made behind everything in the surface. */
export const summaryOver = (
  covered: readonly string[],
  text: string,
  changes: Partial<LiveCompaction> = {},
): LiveCompaction => ({
  compaction: 'c1',
  place: place(90),
  covered,
  replacement: {
    id: 'summary-1',
    role: 'user',
    blocks: [{ type: 'text', text }],
    toolCalls: [],
    answers: [],
    provenance: { kind: 'engine' },
    trust: 'external',
    status: 'confirmed',
  },
  shortened: new Map(),
  strategy: 'summary',
  trust: 'external',
  changed: [],
  ...changes,
});

/** The surface behind a compaction that was planned on it and recorded. */
export const compacted = (
  surface: Surface,
  draft: {
    readonly covered: readonly string[];
    readonly summary?: string;
    readonly shortened: readonly { readonly messageId: string; readonly text: string }[];
    readonly strategy: string;
  },
  id = 'summary-1',
): Surface => {
  const inner = surface.compactions.filter(
    ({ replacement }) => replacement !== undefined && draft.covered.includes(replacement.id),
  );
  const covered = [...inner.flatMap((live) => live.covered), ...draft.covered];
  const order = surface.items.map(({ message }) => message.id);
  const made = summaryOver(
    covered
      .filter((one) => order.includes(one))
      .sort((a, b) => order.indexOf(a) - order.indexOf(b)),
    draft.summary ?? '',
    {
      compaction: `of ${id}`,
      place: place(surface.revision + 1),
      strategy: draft.strategy,
      shortened: new Map(draft.shortened.map(({ messageId, text }) => [messageId, text])),
    },
  );
  const { replacement, ...bare } = made;
  const live: LiveCompaction =
    draft.summary === undefined || replacement === undefined
      ? bare
      : { ...made, replacement: { ...replacement, id } };
  return {
    ...surface,
    revision: surface.revision + 1,
    compactions: [...surface.compactions.filter((other) => !inner.includes(other)), live],
  };
};

/** The surface with more messages at its end. */
export const extended = (
  surface: Surface,
  before: readonly Spec[],
  more: readonly Spec[],
): Surface => ({
  ...surface,
  revision: surface.revision + 2 * more.length,
  items: [
    ...surface.items,
    ...itemsOf([...before, ...more])
      .slice(before.length)
      .map((item, index) => ({ ...item, place: place(surface.revision + 2 * index + 1) })),
  ],
});
