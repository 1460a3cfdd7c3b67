import * as E from 'fp-ts/lib/Either.js';
import {
  planCompaction,
  type CompactionDraft,
  type CompactionInput,
} from '../domain/context/compaction-plan.js';
import { compactContext, revertCompaction } from '../domain/decide/compaction.js';
import type { StemmaFault } from '../domain/errors.js';
import { prepare, type MakeSlot } from '../domain/intake.js';
import type { Message } from '../domain/message.js';
import { openaiChat } from '../domain/profiles/openai-chat.js';
import type { Profile } from '../domain/profiles/profile.js';
import type { Surface } from '../domain/surface.js';
import { estimator, type TokenCounter } from '../domain/tokens.js';
import { loadBranch } from './branch-loader.js';
import { slotMaker } from './content.js';
import {
  commandScopedId,
  given,
  left,
  scopeOf,
  type BranchContext,
  type CommandOptions,
} from './engine-context.js';
import type { Recorded } from '../domain/recorded.js';
import { onBranch, priorCommand, type Done, type Given } from './execute.js';
import { readSurface } from './histories.js';
import type { Task } from './runtime.js';

/** What to compact, and how. */
export interface CompactionOptions
  extends
    CommandOptions,
    Pick<
      CompactionInput,
      | 'strategy'
      | 'keepFrom'
      | 'keepLast'
      | 'keepUserText'
      | 'summary'
      | 'onSplit'
      | 'requireProgress'
    > {
  /** Its counts are used; absent: those of an OpenAI chat model. */
  readonly profile?: Profile;
  readonly counter?: TokenCounter;
  /** Id for the message that stands for what is covered. */
  readonly summaryId?: string;
  /** The model call that made the summary. */
  readonly madeBy?: string;
  /** A plan made before: what it covers must not have changed since, or `CompactionStale`. */
  readonly plan?: CompactionPlan;
}

/** A plan, and what its covered messages were like when it was made. */
export interface CompactionPlan extends CompactionDraft {
  readonly plannedAt: number;
  readonly states: readonly string[];
}

/** What was compacted, as its event says it. */
export interface CompactionAnswer {
  readonly compaction: string;
  readonly summaryId?: string;
  readonly plan: Pick<CompactionDraft, 'covered' | 'tokensBefore' | 'tokensAfter' | 'moved'>;
}

const STRATEGY_VERSION = 1;

/** What each covered message is like; another text means that the message changed. */
const statesOf = (surface: Surface, covered: readonly string[]): readonly string[] => {
  const items = new Map(surface.items.map((item) => [item.message.id, item]));
  return covered.map((id) => {
    const item = items.get(id);
    return `${id} ${item?.status ?? ''} ${item?.out?.reason ?? ''}`;
  });
};

const planOn = (
  surface: Surface,
  options: CompactionOptions,
  pending: CompactionInput['pending'],
): E.Either<StemmaFault, CompactionPlan> => {
  const { strategy, keepFrom, keepLast, summary, onSplit, requireProgress, keepUserText } = options;
  const drafted = planCompaction({
    surface,
    profile: options.profile ?? openaiChat({ model: 'gpt' }),
    counter: options.counter ?? estimator,
    strategy,
    ...(keepFrom === undefined ? {} : { keepFrom }),
    ...(keepLast === undefined ? {} : { keepLast }),
    ...(summary === undefined ? {} : { summary }),
    ...(onSplit === undefined ? {} : { onSplit }),
    ...(requireProgress === undefined ? {} : { requireProgress }),
    ...(keepUserText === undefined ? {} : { keepUserText }),
    ...(pending === undefined ? {} : { pending }),
  });
  if (E.isLeft(drafted)) return drafted;
  const plannedAt = surface.revision;
  const states = statesOf(surface, drafted.right.covered);
  return E.right({ ...drafted.right, plannedAt, states });
};

const look =
  (
    context: BranchContext,
  ): Task<{
    readonly surface: Surface;
    readonly head: number;
    readonly pending: NonNullable<CompactionInput['pending']>;
  }> =>
  async () => {
    const { runtime, states, histories, key } = context;
    const loaded = await loadBranch(runtime, states, key)();
    if (E.isLeft(loaded)) return loaded;
    const surface = await readSurface(runtime, histories, key)();
    if (E.isLeft(surface)) return surface;
    const pending = [...loaded.right.state.approvals.values()].map(({ call }) => call);
    return E.right({ surface: surface.right, head: surface.right.revision, pending });
  };

/** What a compaction would cover and save. Writes nothing. */
export const planCompactionAt =
  (context: BranchContext, options: CompactionOptions): Task<CompactionPlan> =>
  async () => {
    const seen = await look(context)();
    if (E.isLeft(seen)) return seen;
    return planOn(seen.right.surface, options, seen.right.pending);
  };

/** A plan from before still stands when nothing that it covers changed; what came later is kept (CX5). */
const staleFault = (surface: Surface, plan: CompactionPlan): StemmaFault | undefined => {
  const now = statesOf(surface, plan.covered);
  const changed = plan.covered.filter((_id, index) => now[index] !== plan.states[index]);
  return changed.length === 0 ? undefined : { _tag: 'CompactionStale', ids: changed };
};

const summaryMessage = (id: string, plan: CompactionPlan): Message => ({
  id,
  role: 'user',
  blocks: [{ type: 'text', text: plan.summary ?? '' }],
  toolCalls: [],
  answers: [],
  provenance: { kind: 'engine', id: plan.strategy },
  trust: plan.trust,
  status: 'confirmed',
});

interface Names {
  readonly compaction: string;
  readonly summaryId: string;
}

const commandOf = (
  context: BranchContext,
  options: CompactionOptions,
  plan: CompactionPlan,
  at: { readonly head: number; readonly names: Names },
  make: MakeSlot,
) =>
  compactContext({
    scope: scopeOf(context),
    plannedAt: at.head,
    compaction: {
      compaction: at.names.compaction,
      covers: plan.covers,
      covered: plan.covered,
      coveredDigest: plan.coveredDigest,
      shortened: plan.shortened.map(({ messageId, text }) => ({
        messageId,
        text: make(text, 'shortened'),
      })),
      strategy: plan.strategy,
      strategyVersion: STRATEGY_VERSION,
      params: JSON.stringify(paramsOf(options, plan)),
      ...(options.madeBy === undefined ? {} : { madeBy: options.madeBy }),
      tokensBefore: plan.tokensBefore,
      tokensAfter: Math.max(0, plan.tokensAfter),
      trust: plan.trust,
    },
    ...(plan.summary === undefined
      ? {}
      : { replacement: prepare(summaryMessage(at.names.summaryId, plan), make) }),
  });

interface CompactionParams {
  readonly keepFrom?: string | null;
  readonly keepLast?: number;
  readonly moved?: NonNullable<CompactionDraft['moved']>;
}

const paramsOf = (options: CompactionOptions, plan: CompactionPlan): CompactionParams => ({
  ...(options.keepFrom === undefined ? {} : { keepFrom: options.keepFrom }),
  ...(options.keepLast === undefined ? {} : { keepLast: options.keepLast }),
  ...(plan.moved === undefined ? {} : { moved: plan.moved }),
});

const answerFrom = (stored: readonly Recorded[]): CompactionAnswer | undefined => {
  const event = stored
    .map((recorded) => recorded.event)
    .find((e) => e?.type === 'ContextCompacted');
  if (event?.type !== 'ContextCompacted') return undefined;
  const { compaction, replacement, covered, tokensBefore, tokensAfter, params } = event.data;
  const { moved } = JSON.parse(params ?? '{}') as CompactionParams;
  return {
    compaction,
    ...(replacement === undefined ? {} : { summaryId: replacement.id }),
    plan: { covered, tokensBefore, tokensAfter, ...(moved === undefined ? {} : { moved }) },
  };
};

const ROUNDS = 16;

/**
 * Compacts: a range is represented by something shorter in later contexts. A message that comes in
 * meanwhile stays behind the range; a covered message that changed makes a given plan stale; another
 * compaction that comes in is a conflict.
 */
export const compact =
  (context: BranchContext, options: CompactionOptions): Task<CompactionAnswer> =>
  async () => {
    const { runtime, states, key } = context;
    const { strategy, summary = null, keepFrom = null, keepLast = null } = options;
    const { madeBy = null, summaryId: named = null } = options;
    const input = [
      strategy,
      summary,
      keepFrom,
      keepLast,
      madeBy,
      named,
      options.keepUserText ?? null,
    ];
    const by = given(context, options, 'compact', input);
    const prior = await priorCommand(runtime, states, key, by)();
    if (E.isLeft(prior)) return prior;
    const before = prior.right === undefined ? undefined : answerFrom(prior.right);
    if (before !== undefined) return E.right(before);
    const names = {
      compaction: commandScopedId(context, options, 'k', 0),
      summaryId: options.summaryId ?? commandScopedId(context, options, 's', 0),
    };
    const inForce = await compactionsInForce(context);
    for (let round = 0; ; round += 1) {
      const done = await compactOnce(context, options, by, names);
      if (E.isRight(done) || done.left._tag !== 'RevisionConflict' || round >= ROUNDS) return done;
      // Of two compactions at the same time one wins: the other was meant for another surface (B56).
      if ((await compactionsInForce(context)) !== inForce) return done;
    }
  };

const compactionsInForce = async ({ runtime, states, key }: BranchContext): Promise<string> => {
  const loaded = await loadBranch(runtime, states, key)();
  return E.isLeft(loaded) ? '' : [...loaded.right.state.compactions.keys()].join(' ');
};

const compactOnce = async (
  context: BranchContext,
  options: CompactionOptions,
  by: Given,
  names: Names,
): Promise<E.Either<StemmaFault, CompactionAnswer>> => {
  const { runtime, states, key } = context;
  const seen = await look(context)();
  if (E.isLeft(seen)) return seen;
  const { surface, head, pending } = seen.right;
  const planned =
    options.plan === undefined
      ? planOn(surface, options, pending)
      : E.right<StemmaFault, CompactionPlan>(options.plan);
  if (E.isLeft(planned)) return planned;
  const stale = staleFault(surface, planned.right);
  if (stale !== undefined) return left(stale);
  const slots = slotMaker(runtime, key.conversation);
  const command = commandOf(context, options, planned.right, { head, names }, slots.make);
  const done = await onBranch(runtime, states, key, command, { ...by, slots })();
  if (E.isLeft(done)) return done;
  return E.right(
    answerFrom(done.right.written) ?? { compaction: names.compaction, plan: planned.right },
  );
};

/** Takes a compaction back: its originals enter contexts again. */
export const undoCompaction = (
  context: BranchContext,
  compaction: string,
  options: CommandOptions & { readonly reason?: string } = {},
): Task<Done<{ readonly compaction: string }>> => {
  const { runtime, states, key } = context;
  const slots = slotMaker(runtime, key.conversation);
  const reason = options.reason === undefined ? undefined : slots.make(options.reason, 'reason');
  return onBranch(runtime, states, key, revertCompaction(scopeOf(context), compaction, reason), {
    ...given(context, options, 'undoCompaction', [compaction, options.reason ?? null]),
    slots,
  });
};
