import * as E from 'fp-ts/lib/Either.js';
import type { MessageInput } from '../../src/domain/intake.js';
import type { DecodedMessage, Profile } from '../../src/domain/profiles/profile.js';
import { StemmaError } from '../../src/index.js';
import { LABEL } from './macros.js';
import type { Fields } from './shape.js';
import { setUpCall, type Talk } from './talk.js';

/** A message as it is sent: the label of the case is no part of it. */
export const withoutLabel = (message: Fields): Fields => {
  const { [LABEL]: _label, ...rest } = message;
  return rest;
};

const labelOf = (message: Fields | undefined, index: number): string => {
  const label = message?.[LABEL];
  return typeof label === 'string' ? label : `#${String(index)}`;
};

const inputOf = (decoded: DecodedMessage, id: string, partOf: string | undefined): MessageInput => {
  const { role, blocks, toolCalls, answersCallIds, outcome, name, raw } = decoded;
  const [answered] = answersCallIds;
  return {
    id,
    role,
    content: blocks,
    ...(toolCalls.length === 0 ? {} : { toolCalls }),
    ...(role === 'tool' && answered !== undefined ? { toolCallId: answered } : {}),
    ...(role === 'tool' && outcome !== undefined ? { outcome } : {}),
    ...(name === undefined ? {} : { name }),
    ...(raw === undefined ? {} : { raw }),
    ...(partOf === undefined ? {} : { partOf }),
  };
};

/** Decodes messages of the profile and takes them in; several parts of one share its label. */
export const appendWire = async (
  talk: Talk,
  profile: Profile,
  messages: readonly Fields[],
): Promise<void> => {
  const decoded = profile.decodeMessages(messages.map(withoutLabel));
  if (E.isLeft(decoded)) throw new StemmaError(decoded.left);
  const counts = new Map<number, number>();
  for (const { index } of decoded.right) counts.set(index, (counts.get(index) ?? 0) + 1);
  const seen = new Map<number, number>();
  for (const part of decoded.right) {
    const { index } = part;
    const label = labelOf(messages[index], index);
    const at = seen.get(index) ?? 0;
    seen.set(index, at + 1);
    const id = at === 0 ? label : `${label}.${String(at)}`;
    if (id !== label) talk.names.set(id, label);
    const [answered] = part.answersCallIds;
    if (answered !== undefined) await setUpCall(talk, { role: part.role, tool_call_id: answered });
    await talk.branch.append(inputOf(part, id, (counts.get(index) ?? 0) > 1 ? label : undefined));
  }
};
