import type { ContextPlan } from '../../../src/domain/context/plan.js';
import { plainText } from '../canonical.js';
import { contextIds, wireOf } from '../context-facts.js';
import { attempt } from '../fault.js';
import { historyItems } from '../facts.js';
import { itemsOf, rowsOf } from '../talk.js';
import { isWellFormedBelow, shown } from '../values.js';
import { firstWrong, ofPlan, type Check } from './judged.js';
import { escaped, partAt, sentText, unpaired, wireMessages } from './wire.js';

export const validForProfile: Check = ofPlan((plan, { run }) => {
  const found = run.evidence.profile.validate(plan.body, plan.facts);
  const [first] = found;
  return first === undefined ? undefined : `the profile finds ${shown(first)}`;
});

export const pairsIntact: Check = ofPlan((plan) => unpaired(wireOf(plan)));

export const allCallsAnswered: Check = ofPlan((plan) => unpaired(wireOf(plan)));

export const withinBudget: Check = ofPlan((plan, { run }) => {
  const { max_tokens: limit } = run.input.params;
  if (typeof limit !== 'number') return 'the case names no max_tokens';
  return plan.tokens <= limit
    ? undefined
    : `${String(plan.tokens)} tokens are over ${String(limit)}`;
});

const unmarkedResult = (plan: ContextPlan, real: ReadonlySet<string>): string | undefined =>
  firstWrong(plan.results, ({ toolCallId, synthetic, messageId }) => {
    const isReal = messageId !== undefined && real.has(messageId);
    if (isReal) return synthetic ? `the real result of ${toolCallId} is marked` : undefined;
    return synthetic ? undefined : `the result of ${toolCallId} is not marked as made`;
  });

export const syntheticMarked: Check = ofPlan(async (plan, { run }) => {
  const rows = await rowsOf(run.talk);
  const real = new Set(rows.map(({ id }) => id));
  const made = plan.results.filter(({ synthetic }) => synthetic);
  const reported = new Set(
    plan.repairs
      .filter(({ code }) => code === 'RESULT_SYNTHESIZED')
      .map(({ toolCallId }) => toolCallId),
  );
  const unreported = made.find(({ toolCallId }) => !reported.has(toolCallId));
  if (unreported !== undefined) return `${unreported.toolCallId} is not in the report`;
  if (made.length !== plan.synthetic.length) return 'plan and wire name other made results';
  const items = await itemsOf(run.talk);
  const texts = new Set(made.map(({ content }) => content));
  const stored = items.find(
    ({ message }) => message.role === 'tool' && texts.has(plainText(message)),
  );
  return stored === undefined
    ? unmarkedResult(plan, real)
    : `the made result ${stored.message.id} is in history`;
});

const summaryOf = async (judged: Parameters<Check>[0]) => {
  const surface = await judged.run.talk.branch.surface();
  const id = judged.run.evidence.compaction?.summaryId;
  return surface.compactions.find(({ replacement }) => replacement?.id === id);
};

const weak: ReadonlySet<string> = new Set(['user', 'model', 'external']);

export const summaryMarkedAsGenerated: Check = ofPlan(async (plan, judged) => {
  const compaction = await summaryOf(judged);
  const summary = compaction?.replacement;
  if (summary === undefined) return 'there is no summary';
  if (summary.provenance.kind !== 'engine' && summary.provenance.kind !== 'model') {
    return `its provenance is ${summary.provenance.kind}`;
  }
  if (!weak.has(summary.trust)) return `its trust is ${summary.trust}`;
  const entries = plan.layout.filter(({ ids }) => ids.includes(summary.id));
  return firstWrong(entries, ({ path }) => {
    const part = partAt(plan.body, path) as { readonly role?: unknown } | undefined;
    const role = path[0] === 'messages' ? part?.role : String(path[0]);
    return role === 'user' || role === 'assistant' ? undefined : `it is sent as ${String(role)}`;
  });
});

export const summaryBeforeKeptTail: Check = ofPlan(async (plan, judged) => {
  const { run } = judged;
  const compaction = await summaryOf(judged);
  const id = compaction?.replacement?.id;
  if (compaction === undefined || id === undefined) return 'there is no summary';
  const rows = await rowsOf(run.talk);
  const covered = new Set(compaction.covered);
  const end = rows.findLastIndex((row) => covered.has(row.id));
  const tail = new Set(rows.slice(end + 1).map(({ name }) => name));
  const sent = contextIds(run.talk, plan);
  const at = sent.indexOf(run.talk.names.get(id) ?? id);
  if (at < 0) return 'the summary is not sent';
  const early = sent.slice(0, at).find((name) => tail.has(name));
  return early === undefined ? undefined : `${early} stands before it`;
});

export const pinnedVerbatim: Check = ofPlan(async (plan, { run }) => {
  const items = await historyItems(run.talk);
  const kept = items.filter(({ item: { message, out } }) => {
    const isInstruction = message.role === 'system' || message.role === 'developer';
    return out === undefined && (message.pinned === true || isInstruction);
  });
  if (kept.length === 0) return 'nothing is pinned';
  return firstWrong(kept, ({ name, item: { message } }) =>
    firstWrong(message.blocks, (block) => {
      if (block.type !== 'text') return undefined;
      return sentText(plan, message.id).includes(escaped(block.text))
        ? undefined
        : `the text of ${name} is not on the wire as it is`;
    }),
  );
});

const isMade = (plan: ContextPlan, index: number): boolean => {
  if (plan.added.some((added) => added.index === index)) return true;
  const made = plan.results.filter(({ synthetic }) => synthetic).map(({ wireId }) => wireId);
  const message = wireMessages(wireOf(plan))[index];
  return message !== undefined && made.some((id) => JSON.stringify(message).includes(escaped(id)));
};

export const noInventedTurns: Check = ofPlan((plan) => {
  const turns = plan.layout.filter(({ path }) => path[0] === 'messages');
  const sent = wireMessages(wireOf(plan));
  if (turns.length !== sent.length) {
    return `${String(sent.length)} turns are sent, ${String(turns.length)} are told of`;
  }
  return firstWrong(turns, ({ ids, path }) => {
    if (ids.length > 0 || isMade(plan, Number(path[1]))) return undefined;
    return `the turn at ${path.join('/')} comes from no message`;
  });
});

export const assistantTextNeverDroppedSilently: Check = ofPlan(async (plan, { run }) => {
  const items = (await itemsOf(run.talk)).filter(({ message }) => message.role === 'assistant');
  const told = new Set([
    ...plan.repairs.flatMap(({ id, ids = [] }) => (id === undefined ? ids : [id, ...ids])),
    ...plan.dispositions.filter((one) => !one.in).map(({ messageId }) => messageId),
  ]);
  return firstWrong(items, ({ message }) =>
    firstWrong(message.blocks, (block) => {
      if (block.type !== 'text' || block.text.trim() === '' || told.has(message.id)) {
        return undefined;
      }
      return sentText(plan, message.id).includes(escaped(block.text))
        ? undefined
        : `text of ${message.id} is missing, and nothing tells of it`;
    }),
  );
});

export const sameErrorOnRetry: Check = async ({ run }) => {
  const { buildFaults = [], contextInput } = run.evidence;
  const [first, ...rest] = buildFaults.map(({ fault }) => JSON.stringify(fault));
  const { attempts = 1 } = run.input.params;
  if (first === undefined || contextInput === undefined) return 'the build does not fail';
  if (buildFaults.length !== attempts) return `it failed ${String(buildFaults.length)} times`;
  if (rest.some((fault) => fault !== first)) return `it failed otherwise: ${shown(rest)}`;
  const once = await attempt(() => run.talk.branch.preview(contextInput));
  return 'fault' in once && JSON.stringify(once.fault) === first
    ? undefined
    : 'another try ends otherwise';
};

const isUtf8Json = (plan: ContextPlan): string | undefined => {
  const bytes = new TextEncoder().encode(plan.text);
  const back = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  if (back !== plan.text) return 'the body is not the same in UTF-8';
  return isWellFormedBelow(JSON.parse(plan.text)) ? undefined : 'the body holds half a pair';
};

/** What was stored as it would go out, with every repair that the engine has. */
const lenient = async ({ run }: Parameters<Check>[0]): Promise<ContextPlan | undefined> => {
  const { contextInput } = run.evidence;
  if (contextInput === undefined) return undefined;
  const policy = {
    ...contextInput.policy,
    onUnanswered: 'synthesize',
    onBadArguments: 'empty_object',
    adjacency: 'move_results_up',
    onTrailingAssistant: 'append_continue',
  } as const;
  const built = await attempt(() => run.talk.branch.preview({ ...contextInput, policy }));
  return 'value' in built ? built.value : undefined;
};

export const serializedIsValidUtf8Json: Check = async (judged) => {
  const plan = judged.run.evidence.plan ?? (await lenient(judged));
  return plan === undefined ? 'nothing was encoded' : isUtf8Json(plan);
};

const splitsPair = (whole: string, part: string): boolean => {
  const at = whole.indexOf(part);
  const [before, after] = [whole.charCodeAt(at - 1), whole.charCodeAt(at + part.length)];
  const isHigh = (unit: number): boolean => unit >= 0xd800 && unit <= 0xdbff;
  const isLow = (unit: number): boolean => unit >= 0xdc00 && unit <= 0xdfff;
  const endsInside = isHigh(part.charCodeAt(part.length - 1)) && isLow(after);
  return endsInside || (isHigh(before) && isLow(part.charCodeAt(0)));
};

export const neverCutInsideAPair: Check = async ({ run }) => {
  const { truncate = [] } = run.input.params;
  const cuts = (await run.facts.truncate_results?.()) ?? [];
  const split = truncate.find(({ text }, index) => splitsPair(text, cuts[index] ?? ''));
  if (split !== undefined) return `${shown(split.text)} is cut inside a pair`;
  const { plan } = run.evidence;
  if (plan === undefined) return truncate.length > 0 ? undefined : 'nothing is cut';
  return isUtf8Json(plan);
};
