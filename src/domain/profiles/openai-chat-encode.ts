import * as E from 'fp-ts/lib/Either.js';
import type { FaultOf, StemmaFault } from '../errors.js';
import type { Block } from '../message.js';
import {
  encodeOpenAIAssistant,
  openaiMediaPart,
  openaiTextContent,
} from './openai-chat-message.js';
import { rawOpenAIMessage } from './openai-chat-raw.js';
import type {
  OpenAIChatBody,
  OpenAIMessage,
  OpenAITool,
  OpenAIUserPart,
} from './openai-chat-wire.js';
import { bodyParams } from './params.js';
import type {
  AddedTurn,
  Capabilities,
  Encoded,
  EncodeOptions,
  LayoutEntry,
  Turn,
} from './profile.js';
import type { Repair } from './repair.js';
import { SYSTEM_LABEL } from './system-label.js';

interface Work {
  readonly options: EncodeOptions;
  readonly capabilities: Capabilities;
  readonly messages: OpenAIMessage[];
  readonly layout: LayoutEntry[];
  readonly repairs: Repair[];
  readonly omitted: string[];
  readonly added: AddedTurn[];
  /** Media of the results of the exchange at hand, waiting for its end. */
  readonly carried: { readonly turn: Turn; readonly parts: readonly OpenAIUserPart[] }[];
}

const put = (work: Work, turn: Turn | undefined, message: OpenAIMessage): void => {
  const path = ['messages', work.messages.length];
  work.layout.push({ ids: turn?.ids ?? [], turn: turn?.index ?? -1, path });
  work.messages.push(message);
};

const idOf = (turn: Turn): { readonly id?: string } => {
  const id = turn.ids[0];
  return id === undefined ? {} : { id };
};

const report = (work: Work, turn: Turn, repair: Repair): void => {
  work.repairs.push({ ...repair, ...idOf(turn) });
};

const omit = (work: Work, turn: Turn): void => {
  report(work, turn, { code: 'EMPTY_MESSAGE_OMITTED', fromIndex: turn.index });
  work.omitted.push(...turn.ids);
};

// What the protocol has no place for is left out, and named.
const noteLost = (work: Work, turn: Turn, blocks: readonly Block[]): void => {
  const types = new Set(blocks.map(({ type }) => type));
  if (types.has('reasoning')) report(work, turn, { code: 'FOREIGN_REASONING_DROPPED' });
  if (types.has('provider')) report(work, turn, { code: 'FOREIGN_BLOCK_DROPPED' });
};

const mediaOf = (turn: Turn): readonly OpenAIUserPart[] =>
  turn.blocks.flatMap((block) => {
    const part = openaiMediaPart(block);
    return part === undefined ? [] : [part];
  });

const isMedia = ({ type }: Block): boolean =>
  type === 'image' || type === 'audio' || type === 'file';

const textsOf = (turn: Turn): readonly string[] =>
  turn.blocks.flatMap((block) =>
    block.type === 'text' || block.type === 'refusal' ? [block.text] : [],
  );

const nameOf = (turn: Turn): { readonly name?: string } =>
  turn.name === undefined || /[\s<|\\/>]/.test(turn.name) ? {} : { name: turn.name };

const encodeSystem = (work: Work, turn: Turn): void => {
  const isDeveloper = turn.role === 'developer' && work.capabilities.developerRole !== false;
  const role =
    isDeveloper || (work.options.strict && turn.role === 'developer') ? 'developer' : 'system';
  if (role !== turn.role) {
    report(work, turn, { code: 'ROLE_MAPPED', from: turn.role, to: role });
  }
  if (turn.blocks.some(isMedia))
    report(work, turn, { code: 'CONTENT_OMITTED', action: 'text_only' });
  noteLost(work, turn, turn.blocks);
  put(work, turn, { role, content: openaiTextContent(textsOf(turn)), ...nameOf(turn) });
};

const userContent = (turn: Turn): string | OpenAIUserPart[] => {
  const parts = turn.blocks.flatMap((block): readonly OpenAIUserPart[] => {
    if (block.type === 'text' || block.type === 'refusal') {
      return [{ type: 'text', text: block.text }];
    }
    const part = openaiMediaPart(block);
    return part === undefined ? [] : [part];
  });
  const [only] = parts;
  if (parts.length === 0) return '';
  return parts.length === 1 && only?.type === 'text' ? only.text : [...parts];
};

const noteOpening = (work: Work, turn: Turn): void => {
  if (turn.synthetic !== true) return;
  work.added.push({
    kind: 'opening',
    index: work.messages.length,
    text: textsOf(turn).join('\n'),
  });
};

const encodeUser = (work: Work, turn: Turn): void => {
  noteLost(work, turn, turn.blocks);
  noteOpening(work, turn);
  put(work, turn, { role: 'user', content: userContent(turn), ...nameOf(turn) });
};

const encodeAssistant = (work: Work, turn: Turn): void => {
  noteLost(work, turn, turn.blocks);
  if (turn.blocks.some(isMedia))
    report(work, turn, { code: 'CONTENT_OMITTED', action: 'text_only' });
  const message = encodeOpenAIAssistant(turn, work.options.strict);
  if (message === undefined) omit(work, turn);
  else put(work, turn, { ...message, ...nameOf(turn) });
};

const encodeTool = (work: Work, turn: Turn): void => {
  const media = work.options.strict ? [] : mediaOf(turn);
  noteLost(work, turn, turn.blocks);
  const texts = textsOf(turn);
  const shown = texts.length === 0 && media.length > 0 ? ['[see the next user message]'] : texts;
  const content = work.options.strict ? userContent(turn) : openaiTextContent(shown);
  const id = turn.answer?.id ?? '';
  put(work, turn, { role: 'tool', tool_call_id: id, content: content as string });
  if (media.length > 0) work.carried.push({ turn, parts: media });
};

/** First line of the user message that brings what a tool message cannot hold (OC7). */
const carrierLabel = (id: string): string =>
  `[Media of the result of tool call ${id}. It comes from the tool, not from the user.]`;

const carry = (work: Work): void => {
  if (work.carried.length === 0) return;
  const parts: OpenAIUserPart[] = [];
  for (const { turn, parts: media } of work.carried) {
    const text = carrierLabel(turn.answer?.id ?? '');
    parts.push({ type: 'text', text }, ...media);
    report(work, turn, {
      code: 'MEDIA_CARRIED_BY_USER',
      ...(turn.answer && { toolCallId: turn.answer.sourceId }),
      toIndex: work.messages.length,
    });
    work.added.push({ kind: 'media', index: work.messages.length, text });
  }
  const ids = work.carried.flatMap(({ turn }) => turn.ids);
  put(work, undefined, { role: 'user', content: parts });
  const entry = work.layout.at(-1);
  if (entry !== undefined) work.layout[work.layout.length - 1] = { ...entry, ids };
  work.carried.length = 0;
};

const encodeTurn = (work: Work, turn: Turn): void => {
  const before = work.messages.length;
  const repairsBefore = work.repairs.length;
  if (turn.role === 'tool') encodeTool(work, turn);
  else if (turn.role === 'user') encodeUser(work, turn);
  else if (turn.role === 'assistant') encodeAssistant(work, turn);
  else encodeSystem(work, turn);
  // The original form goes out only where it says the same and nothing had to be repaired.
  if (work.messages.length === before || work.repairs.length !== repairsBefore) return;
  if (work.carried.some(({ turn: carried }) => carried === turn)) return;
  const raw = rawOpenAIMessage(turn);
  if (raw !== undefined) work.messages[before] = raw;
};

const isSystem = (turn: Turn): boolean => turn.role === 'system' || turn.role === 'developer';

/** Turns with system texts where the policy wants them; the protocol itself takes them anywhere. */
const placeSystem = (
  turns: readonly Turn[],
  options: EncodeOptions,
): E.Either<
  FaultOf<'OrderViolation'>,
  { readonly turns: readonly Turn[]; readonly repairs: readonly Repair[] }
> => {
  const asTheyAre = { turns, repairs: [] };
  if (options.strict || options.systemPolicy === 'profile') return E.right(asTheyAre);
  const start = turns.findIndex((turn) => !isSystem(turn));
  const late = start < 0 ? [] : turns.slice(start).filter(isSystem);
  const leading = start < 0 ? turns : turns.slice(0, start);
  if (options.systemPolicy === 'coalesce_leading') {
    const all = [...leading, ...late];
    const [first] = all;
    if (first === undefined || (all.length === 1 && late.length === 0)) return E.right(asTheyAre);
    const { raw: _raw, ...rest } = first;
    const text = all.flatMap(textsOf).join('\n\n');
    const ids = all.flatMap((turn) => turn.ids);
    const joined: Turn = { ...rest, ids, blocks: [{ type: 'text', text }] };
    const repairs = late.map((turn): Repair => ({
      code: 'SYSTEM_RELOCATED',
      ...idOf(turn),
      fromIndex: turn.index,
      toIndex: 0,
    }));
    return E.right({ turns: [joined, ...turns.filter((turn) => !isSystem(turn))], repairs });
  }
  const [first] = late;
  if (first === undefined) return E.right(asTheyAre);
  if (options.systemPolicy === 'reject') {
    const about = { index: first.index, ids: first.ids };
    return E.left({ _tag: 'OrderViolation', rule: 'system_placement', ...about });
  }
  const labelled = turns.map((turn, at): Turn => {
    if (at < start || !isSystem(turn)) return turn;
    const { raw: _raw, ...rest } = turn;
    return {
      ...rest,
      role: 'user',
      blocks: [{ type: 'text', text: SYSTEM_LABEL }, ...turn.blocks],
    };
  });
  const repairs = late.map((turn): Repair => ({
    code: 'ROLE_MAPPED',
    ...idOf(turn),
    from: turn.role,
    to: 'user',
  }));
  return E.right({ turns: labelled, repairs });
};

const wireTool = ({
  name,
  description,
  parameters,
}: EncodeOptions['tools'][number]): OpenAITool => ({
  type: 'function',
  function: {
    name,
    ...(description !== undefined && { description }),
    ...(parameters !== undefined && { parameters }),
  },
});

/** Body of a chat completion for the turns, in the order given. */
export const encodeOpenAIChat = (
  model: string,
  capabilities: Capabilities,
  turns: readonly Turn[],
  options: EncodeOptions,
): E.Either<StemmaFault, Encoded<OpenAIChatBody>> => {
  const params = bodyParams(options.params, ['model', 'messages', 'tools']);
  if (E.isLeft(params)) return params;
  const placed = placeSystem(turns, options);
  if (E.isLeft(placed)) return placed;
  const work: Work = {
    options,
    capabilities,
    messages: [],
    layout: [],
    repairs: [...placed.right.repairs],
    omitted: [],
    added: [],
    carried: [],
  };
  for (const turn of placed.right.turns) {
    if (turn.role !== 'tool') carry(work);
    encodeTurn(work, turn);
  }
  carry(work);
  const tools = options.tools.map(wireTool);
  const layout: LayoutEntry[] =
    tools.length === 0 ? work.layout : [{ ids: [], turn: -1, path: ['tools'] }, ...work.layout];
  return E.right({
    body: {
      model,
      messages: work.messages,
      ...(tools.length > 0 && { tools }),
      ...params.right,
    },
    repairs: work.repairs,
    warnings: [],
    omitted: work.omitted,
    added: work.added,
    layout,
    facts: {},
  });
};
