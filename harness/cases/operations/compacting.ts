import type { CompactionAnswer } from '../../../src/engine/compactions.js';
import { textOf } from '../../../src/domain/message.js';
import { estimator, type TokenCounter } from '../../../src/domain/tokens.js';
import type { Branch } from '../../../src/index.js';
import type { Params } from '../input-shape.js';
import type { Started } from '../run.js';
import { namingOf, nameSummaries } from '../talk.js';

type CompactOptions = Parameters<Branch['compact']>[0];

type Wanted = Pick<
  Params,
  'summary' | 'on_split' | 'policy' | 'auto_compact' | 'tokens' | 'summary_tokens'
>;

/** Counts that the case fixes, where it fixes any: by message, and for the text of a summary. */
const counterOf = ({ tokens, summary_tokens: summary }: Wanted): TokenCounter => ({
  ...estimator,
  count: (text) => summary ?? estimator.count(text),
  countMessage: ({ id, blocks }) => tokens?.[id] ?? estimator.count(textOf(blocks)),
});

/** The engine's options for a compaction of the case. */
export const compactOptions = (
  { profile }: Pick<Started, 'profile'>,
  params: Wanted,
  keepFrom: string | null,
): CompactOptions => {
  const { summary, on_split: onSplit = 'reject', policy, auto_compact: auto } = params;
  const options = {
    profile,
    ...(params.tokens === undefined ? {} : { counter: counterOf(params) }),
    keepFrom,
    onSplit: onSplit === 'keep_pair' ? ('move' as const) : ('reject' as const),
    ...(auto === true ? { requireProgress: true } : {}),
    ...(policy === 'keep_user_text' ? { keepUserText: true } : {}),
  };
  return summary === undefined
    ? { ...options, strategy: 'keep-last' }
    : { ...options, strategy: 'summary', summary };
};

/** Compacts up to a message of the case, and labels the summary. */
export const compactNow = async (
  started: Started,
  params: Wanted,
  keepFrom: string | null,
): Promise<CompactionAnswer> => {
  const { talk } = started;
  const { idOf } = await namingOf(talk);
  const from = keepFrom === null ? null : idOf(keepFrom);
  const answer = await talk.branch.compact(compactOptions(started, params, from));
  await nameSummaries(talk);
  return answer;
};
