import * as E from 'fp-ts/lib/Either.js';
import type { StemmaFault } from '../errors.js';
import { isSigned } from './anthropic-blocks.js';
import { report, type EncodeWork, type WireDraft } from './anthropic-work.js';
import { currentLoop, isThinkingOn } from './anthropic-thinking.js';
import type { AnthropicBlock, AnthropicThinkingConfig } from './anthropic-wire.js';
import type { Facts, Turn } from './profile.js';

/** Text of the turn that lets the model go on behind its own message. */
export const CONTINUE_TEXT = 'Continue.';

const isReasoning = ({ type }: AnthropicBlock): boolean =>
  type === 'thinking' || type === 'redacted_thinking';

const blocksOf = ({ content }: WireDraft): readonly AnthropicBlock[] =>
  typeof content === 'string' ? [{ type: 'text', text: content }] : content;

const startsWithReasoning = (draft: WireDraft): boolean => {
  const [first] = blocksOf(draft);
  return first !== undefined && isReasoning(first);
};

// A10, reasoning on: the open tool loop starts with reasoning, and only the model can make it.
const missingReasoning = (
  work: EncodeWork,
  config: AnthropicThinkingConfig | undefined,
): StemmaFault | undefined => {
  const { capabilities } = work.encoding;
  if (config?.type !== 'enabled' || capabilities.thinkingRequiredInToolLoop === false) {
    return undefined;
  }
  const [first] = currentLoop(work.drafts.flatMap(({ turns }) => turns));
  const draft = work.drafts.find(({ turns }) => first !== undefined && turns.includes(first));
  if (first === undefined || draft === undefined || startsWithReasoning(draft)) return undefined;
  const isUnsigned = first.blocks.some((block) => block.type === 'reasoning' && !isSigned(block));
  return {
    _tag: 'ReasoningRequired',
    id: first.ids[0] ?? '',
    rule: isUnsigned ? 'signature_missing' : 'reasoning_missing',
    profileRule: 'A10',
  };
};

const withoutReasoning = (work: EncodeWork, draft: WireDraft): void => {
  if (typeof draft.content === 'string' || !draft.content.some(isReasoning)) return;
  draft.content = draft.content.filter((block) => !isReasoning(block));
  for (const turn of draft.turns) {
    report(work, turn, { code: 'CONTENT_OMITTED', action: 'thinking_off' });
  }
};

const withoutTrailingSpace = (work: EncodeWork, draft: WireDraft): void => {
  const last = blocksOf(draft).at(-1);
  if (last?.type !== 'text' || last.text.trimEnd() === last.text) return;
  const text = last.text.trimEnd();
  draft.content =
    typeof draft.content === 'string' ? text : [...draft.content.slice(0, -1), { ...last, text }];
  for (const turn of draft.turns.slice(-1)) {
    report(work, turn, { code: 'TRAILING_SPACE_REMOVED', action: 'prefill' });
  }
};

// A8: behind a trailing assistant message the model goes on with it, or refuses it.
const finishTrailing = (
  work: EncodeWork,
  config: AnthropicThinkingConfig | undefined,
): StemmaFault | undefined => {
  const last = work.drafts.at(-1);
  if (last?.role !== 'assistant') return undefined;
  if (work.encoding.capabilities.prefill !== false) {
    if (!isThinkingOn(config)) withoutReasoning(work, last);
    withoutTrailingSpace(work, last);
    return undefined;
  }
  const turn = last.turns.at(-1);
  if (work.options.onTrailingAssistant === 'reject') {
    const where = { index: turn?.index ?? -1, ids: turn?.ids ?? [] };
    return { _tag: 'OrderViolation', rule: 'last_role', profileRule: 'A8', ...where };
  }
  const text = CONTINUE_TEXT;
  const added: Turn = {
    ids: [],
    role: 'user',
    blocks: [{ type: 'text', text }],
    calls: [],
    synthetic: true,
    index: -1,
  };
  work.added.push({ kind: 'continue', index: work.drafts.length, text });
  work.drafts.push({ role: 'user', content: text, turns: [added] });
  return undefined;
};

const factsOf = (work: EncodeWork): Facts => {
  const { options, drafts } = work;
  const prefixChanged = drafts.flatMap(({ turns }, index) =>
    turns.some(({ ids }) => ids.some((id) => options.prefixChanged.has(id))) ? [index] : [],
  );
  const images = drafts.flatMap(({ turns }, index) =>
    turns.flatMap(({ blocks }) =>
      blocks.flatMap((block) =>
        block.type === 'image' && block.width !== undefined && block.height !== undefined
          ? [{ index, width: block.width, height: block.height }]
          : [],
      ),
    ),
  );
  const reasoning = drafts.flatMap((draft, index) => {
    const blocks = blocksOf(draft).filter(isReasoning);
    return blocks.length === 0
      ? []
      : [{ index, blocks: blocks.map((block) => JSON.stringify(block)) }];
  });
  return { prefixChanged, images, reasoning };
};

/** What can only be seen with all messages at hand: the end of the list, and the open tool loop. */
export const finishTurns = (
  work: EncodeWork,
  config: AnthropicThinkingConfig | undefined,
): E.Either<StemmaFault, Facts> => {
  if (!work.options.strict) {
    const fault = missingReasoning(work, config) ?? finishTrailing(work, config);
    if (fault !== undefined) return E.left(fault);
  }
  return E.right(factsOf(work));
};
