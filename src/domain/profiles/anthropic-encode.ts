import * as E from 'fp-ts/lib/Either.js';
import type { StemmaFault } from '../errors.js';
import type { Block } from '../message.js';
import { encodeAssistantBlocks } from './anthropic-assistant.js';
import {
  anthropicToolResult,
  anthropicUserBlocks,
  compact,
  isBlankText,
} from './anthropic-blocks.js';
import { boundedCacheMarkers } from './anthropic-cache.js';
import { finishTurns } from './anthropic-finish.js';
import { fitImages } from './anthropic-images.js';
import { rawAnthropicMessage } from './anthropic-raw.js';
import { misplacedSystem, systemPlaces } from './anthropic-system.js';
import { thinkingOf } from './anthropic-thinking.js';
import type { AnthropicBlock, AnthropicBody, AnthropicMessage } from './anthropic-wire.js';
import { bodyParams } from './params.js';
import {
  report,
  type AnthropicEncoding,
  type EncodeWork,
  type WireDraft,
} from './anthropic-work.js';
import type { Encoded, EncodeOptions, LayoutEntry, Turn } from './profile.js';

const put = (
  work: EncodeWork,
  turn: Turn,
  role: WireDraft['role'],
  content: string | AnthropicBlock[],
): void => {
  work.drafts.push({ role, content, turns: [turn] });
};

const putRaw = (work: EncodeWork, turn: Turn, wire: AnthropicMessage): void => {
  const { role, content } = wire;
  work.drafts.push({ role, content, wire, turns: [turn] });
};

const omit = (work: EncodeWork, turn: Turn): void => {
  report(work, turn, { code: 'EMPTY_MESSAGE_OMITTED', fromIndex: turn.index });
  work.omitted.push(...turn.ids);
};

const noteUserLosses = (work: EncodeWork, turn: Turn): void => {
  const { blocks } = turn;
  if (blocks.some(({ type }) => type === 'audio')) {
    report(work, turn, { code: 'CONTENT_OMITTED', action: 'audio' });
  }
  if (blocks.some(({ type }) => type === 'reasoning')) {
    report(work, turn, { code: 'FOREIGN_REASONING_DROPPED' });
  }
  const isBlank = ({ type, ...block }: Block): boolean =>
    type === 'text' && 'text' in block && block.text !== '' && isBlankText(block.text);
  if (blocks.length > 1 && blocks.some(isBlank)) {
    report(work, turn, { code: 'CONTENT_OMITTED', action: 'blank_text' });
  }
};

const listed = (content: string | AnthropicBlock[]): AnthropicBlock[] =>
  typeof content === 'string' ? [{ type: 'text', text: content }] : content;

// Results of one group stand in one user message; a text that came in the same message as they did
// stands behind them (A4).
const joinsLast = (work: EncodeWork, turn: Turn): WireDraft | undefined => {
  const last = work.drafts.at(-1);
  const before = last?.turns.at(-1);
  if (last?.role !== 'user' || before?.role !== 'tool') return undefined;
  if (turn.role === 'tool') {
    return work.options.strict && before.partOf !== turn.partOf ? undefined : last;
  }
  return turn.partOf !== undefined && turn.partOf === before.partOf ? last : undefined;
};

const encodeUser = (work: EncodeWork, turn: Turn): void => {
  const repaired = work.repairs.length;
  const isTool = turn.role === 'tool';
  noteUserLosses(work, turn);
  const { strict } = work.options;
  const made: AnthropicBlock[] = isTool
    ? [anthropicToolResult(turn, strict)]
    : [...anthropicUserBlocks(turn, strict)];
  const raw = work.repairs.length === repaired ? rawAnthropicMessage(turn) : undefined;
  if (made.length === 0 && !strict) {
    omit(work, turn);
    return;
  }
  if (turn.synthetic === true && turn.role === 'user') {
    const words = turn.blocks.flatMap((block) => (block.type === 'text' ? [block.text] : []));
    work.added.push({ kind: 'opening', index: work.drafts.length, text: words.join('\n') });
  }
  const last = joinsLast(work, turn);
  if (last !== undefined) {
    last.content = [...listed(last.content), ...listed(raw?.content ?? made)];
    last.turns.push(turn);
  } else if (raw !== undefined) putRaw(work, turn, raw);
  else put(work, turn, 'user', isTool ? made : compact(made));
};

const encodeAssistant = (work: EncodeWork, turn: Turn): void => {
  const repaired = work.repairs.length;
  const made = encodeAssistantBlocks(work, turn);
  const isUnchanged = work.repairs.length === repaired;
  const raw = isUnchanged ? rawAnthropicMessage(turn) : undefined;
  const says = made.some(({ type }) => type !== 'thinking' && type !== 'redacted_thinking');
  if (!says && !work.options.strict) omit(work, turn);
  else if (raw !== undefined) putRaw(work, turn, raw);
  else put(work, turn, 'assistant', compact(made));
};

const isSaid = (work: EncodeWork, block: Block): boolean =>
  block.type === 'text' && (work.options.strict || !isBlankText(block.text));

const encodeSystem = (work: EncodeWork, turn: Turn): void => {
  const texts = turn.blocks.flatMap((block): AnthropicBlock[] =>
    block.type === 'text' && isSaid(work, block) ? [{ type: 'text', text: block.text }] : [],
  );
  const last = work.drafts.at(-1);
  if (texts.length === 0 && !work.options.strict) omit(work, turn);
  else if (last?.role === 'system' && !work.options.strict) {
    last.content = [...listed(last.content), ...texts];
    last.turns.push(turn);
  } else put(work, turn, turn.role as AnthropicMessage['role'], compact(texts));
};

const encodeTurn = (work: EncodeWork, turn: Turn): void => {
  if (turn.role === 'assistant') encodeAssistant(work, turn);
  else if (turn.role === 'user' || turn.role === 'tool') encodeUser(work, turn);
  else encodeSystem(work, turn);
};

/** Turns of the top-level field that say something. */
const topTurns = (work: EncodeWork, turns: readonly Turn[]): readonly Turn[] =>
  turns.filter((turn) => {
    const says = turn.blocks.some((block) => isSaid(work, block));
    if (!says) omit(work, turn);
    return says;
  });

const topText = (turns: readonly Turn[]): string =>
  turns
    .flatMap(({ blocks }) => [
      blocks.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join('\n'),
    ])
    .join('\n\n');

const toolsOf = (options: EncodeOptions): AnthropicBody['tools'] =>
  options.tools.map(({ name, description, parameters }) => ({
    name,
    ...(description !== undefined && { description }),
    input_schema: { ...(parameters ?? { type: 'object', properties: {} }) },
  }));

const layoutOf = (
  work: EncodeWork,
  system: readonly Turn[],
  hasTools: boolean,
): readonly LayoutEntry[] => {
  const idsOf = (turns: readonly Turn[]): readonly string[] => turns.flatMap(({ ids }) => ids);
  const first = ({ turns }: WireDraft): number => turns[0]?.index ?? -1;
  return [
    ...(hasTools ? [{ ids: [], turn: -1, path: ['tools'] }] : []),
    ...(system.length > 0
      ? [{ ids: idsOf(system), turn: system[0]?.index ?? -1, path: ['system'] }]
      : []),
    ...work.drafts.map((draft, index) => ({
      ids: idsOf(draft.turns),
      turn: first(draft),
      path: ['messages', index],
    })),
  ];
};

/** Body of a request for the turns, in the order given. */
export const encodeAnthropic = (
  encoding: AnthropicEncoding,
  turns: readonly Turn[],
  options: EncodeOptions,
): E.Either<StemmaFault, Encoded<AnthropicBody>> => {
  const { max_tokens: asked, thinking: askedThinking, ...others } = options.params;
  const params = bodyParams(others, ['model', 'messages', 'system', 'tools']);
  if (E.isLeft(params)) return params;
  const maxTokens = typeof asked === 'number' ? asked : encoding.maxTokens;
  const places = systemPlaces(turns, encoding.capabilities, options);
  if (E.isLeft(places)) return places;
  const { system, messages: turnsInPlace, repairs } = places.right;
  const thinking = thinkingOf(turnsInPlace, { ...encoding, maxTokens }, options, askedThinking);
  const work: EncodeWork = {
    encoding,
    options,
    drafts: [],
    repairs: [...repairs, ...thinking.repairs],
    omitted: [],
    added: [],
    keepsInvalid: thinking.keepsInvalid,
  };
  const leading = topTurns(work, system);
  for (const turn of fitImages(turnsInPlace, work)) encodeTurn(work, turn);
  const moved = options.strict ? [] : misplacedSystem(work);
  const top = [...leading, ...moved];
  const facts = finishTurns(work, thinking.config);
  if (E.isLeft(facts)) return facts;
  const tools = toolsOf(options) ?? [];
  const messages = work.drafts.map(({ role, content, wire }): AnthropicMessage =>
    wire?.content === content ? wire : { role, content },
  );
  const text = topText(top);
  return E.right({
    body: {
      model: encoding.model,
      max_tokens: maxTokens,
      ...(text !== '' && { system: text }),
      ...(tools.length > 0 && { tools }),
      messages: options.strict ? messages : boundedCacheMarkers(messages, work.repairs),
      ...(thinking.config && { thinking: thinking.config }),
      ...params.right,
    },
    repairs: work.repairs,
    warnings: [],
    omitted: work.omitted,
    added: work.added,
    layout: layoutOf(work, top, tools.length > 0),
    facts: facts.right,
  });
};
