import type { ContextPlan, MessageDisposition } from '../../domain/context/plan.js';
import type { Message } from '../../domain/message.js';
import type { Surface } from '../../domain/surface.js';
import type { Look } from './result.js';
import { idOf, listing, placeName, sideBySide, whatOf } from './show.js';
import type { Target } from './targets.js';
import { oneLine } from './terminal-text.js';
import { wordsIn } from './words/words.js';

/** A context and what is needed to show it. */
export interface ShownContext {
  readonly plan: ContextPlan;
  readonly model?: string;
  readonly target: Pick<Target, 'branch' | 'names'>;
  /** The branch as the context was built from it: roles and previews. */
  readonly surface: Surface;
}

interface Candidate {
  readonly role: string;
  readonly what: Pick<Message, 'blocks' | 'toolCalls'>;
}

const candidatesIn = (surface: Surface): ReadonlyMap<string, Candidate> =>
  new Map([
    ...surface.instructions.map(({ messageId, role, text }): [string, Candidate] => [
      messageId,
      { role, what: { blocks: [{ type: 'text', text }], toolCalls: [] } },
    ]),
    ...surface.items.map(({ message }): [string, Candidate] => [
      message.id,
      { role: message.role, what: message },
    ]),
    ...surface.compactions.flatMap(({ replacement }): [string, Candidate][] =>
      replacement === undefined ? [] : [[replacement.id, { role: 'summary', what: replacement }]],
    ),
  ]);

/** One candidate with its role, for JSON and for people. */
export interface DispositionRow extends MessageDisposition {
  readonly role: string;
  /** In English, whatever the words around it are. */
  readonly reason: string;
}

const { reason: englishReason } = wordsIn('en');

export const dispositionRows = ({ plan, surface }: ShownContext): readonly DispositionRow[] => {
  const candidates = candidatesIn(surface);
  return plan.dispositions.map((entry) => ({
    ...entry,
    role: candidates.get(entry.messageId)?.role ?? '',
    reason: englishReason(entry.disposition),
  }));
};

const BAR = 24;

const bar = (used: number, whole: number, look: Look): string => {
  const filled = Math.min(BAR, Math.ceil((used / Math.max(1, whole)) * BAR));
  const { faint, good } = look.paint;
  return `[${good('█'.repeat(filled))}${faint('░'.repeat(BAR - filled))}]`;
};

const groupOf = ({ disposition, role }: DispositionRow): string => {
  if (disposition === 'summary') return 'summary';
  if (role === 'system' || role === 'developer') return 'system';
  return role === 'tool' ? 'results' : 'history';
};

const shares = (rows: readonly DispositionRow[], plan: ContextPlan, look: Look): string => {
  const { text, number } = look.words;
  const sums = new Map<string, number>();
  for (const row of rows.filter((entry) => entry.in)) {
    sums.set(groupOf(row), (sums.get(groupOf(row)) ?? 0) + row.tokens);
  }
  if (plan.toolTokens > 0) sums.set('tools', plan.toolTokens);
  const named = ['system', 'summary', 'history', 'results', 'tools'].flatMap((group) => {
    const tokens = sums.get(group);
    return tokens === undefined ? [] : [`${text.shareOf(group)} ${number(tokens)}`];
  });
  const free = plan.budget === undefined ? [] : [text.free(number(plan.budget - plan.tokens))];
  return [...named, ...free].join(' · ');
};

const noteOf = (row: DispositionRow, names: Target['names'], look: Look): string => {
  const { note, cause } = row;
  const by =
    cause === undefined ? '' : `(${names.get(cause.branch) ?? ''}@${String(cause.revision)})`;
  return [look.words.reason(row.disposition), note ?? '', by]
    .filter((part) => part !== '')
    .join(' ');
};

const whyTable = (shown: ShownContext, rows: readonly DispositionRow[], look: Look): string => {
  const { text, number } = look.words;
  const { branch, names } = shown.target;
  const candidates = candidatesIn(shown.surface);
  const columns = [
    { header: '' },
    { header: text.rev, align: 'right' as const, max: 20 },
    { header: text.role },
    { header: text.tokens, align: 'right' as const },
    { header: text.id, max: 28 },
    { header: text.why, max: 60 },
    { header: text.what, max: 40 },
  ];
  const cells = rows.map((row) => {
    const candidate = candidates.get(row.messageId);
    return [
      row.in ? text.isIn : text.isOut,
      placeName(row.place, branch.branch, names),
      row.role === 'summary' ? text.summary : row.role,
      number(row.tokens),
      row.messageId,
      noteOf(row, names, look),
      candidate === undefined ? '' : whatOf(candidate.what, look),
    ];
  });
  return listing(look, columns, cells);
};

const repairLines = ({ repairs, warnings }: ContextPlan, look: Look): readonly string[] => [
  ...repairs.map(({ code, id = '', action = '' }) =>
    sideBySide(look.words.text.repaired, code, idOf(id), idOf(action)),
  ),
  ...warnings.map(({ code, id = '' }) => sideBySide(look.words.text.warning, code, idOf(id))),
];

/** The context as people read it: what it costs, and with `isWhy` why each message is in or out. */
export const contextText = (shown: ShownContext, isWhy: boolean, look: Look): string => {
  const { plan, model } = shown;
  const { text, number } = look.words;
  const rows = dispositionRows(shown);
  const sent = rows.filter((row) => row.in).length;
  const budget = plan.budget === undefined ? '' : ` / ${number(plan.budget)}`;
  const exact = plan.counter.exact ? text.exact : text.estimated;
  const heading = [
    text.callInput(plan.profile.name, model ?? ''),
    text.messagesOf(number(sent), number(rows.length)),
    `${number(plan.tokens)}${budget} ${text.tokens} (${plan.counter.name}, ${exact})`,
  ].join(' · ');
  const whole = plan.budget ?? plan.tokens;
  return [
    oneLine(heading, 400),
    `${bar(plan.tokens, whole, look)} ${shares(rows, plan, look)}`,
    ...(isWhy ? [whyTable(shown, rows, look)] : []),
    ...repairLines(plan, look),
    `${text.notSent}   ${text.payloadDigest} ${idOf(plan.requestDigest)}`,
  ].join('\n');
};

/** The plan as JSON: what the text says and more. */
export const contextData = (shown: ShownContext): Readonly<Record<string, unknown>> => {
  const { plan, model, target } = shown;
  const { toolNames: _names, body, text, dispositions: _dispositions, ...rest } = plan;
  return {
    conversation: target.branch.conversation,
    branch: target.branch.branch,
    branchName: target.branch.name,
    revision: shown.surface.revision,
    ...(model === undefined ? {} : { model }),
    ...rest,
    dispositions: dispositionRows(shown),
    payload: { body, text },
  };
};
