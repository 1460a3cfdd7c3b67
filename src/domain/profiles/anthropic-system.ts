import * as E from 'fp-ts/lib/Either.js';
import type { FaultOf } from '../errors.js';
import type { Capabilities, EncodeOptions, Turn } from './profile.js';
import type { Repair } from './repair.js';
import { SYSTEM_LABEL } from './system-label.js';

export interface SystemPlaces {
  /** Turns whose text goes to the top-level field. */
  readonly system: readonly Turn[];
  readonly messages: readonly Turn[];
  readonly repairs: readonly Repair[];
}

const isSystem = ({ role }: Turn): boolean => role === 'system' || role === 'developer';

const about = (turn: Turn): { readonly id?: string } => {
  const id = turn.ids[0];
  return id === undefined ? {} : { id };
};

const mapped = (turn: Turn): readonly Repair[] =>
  turn.role === 'developer'
    ? [{ code: 'ROLE_MAPPED', ...about(turn), from: 'developer', to: 'system' }]
    : [];

const endsInServerTool = (turn: Turn): boolean => {
  const last = turn.blocks.at(-1);
  return last?.type === 'provider' && last.json.includes('"server_tool_use"');
};

// A2: behind a user turn (or a server tool), and in front of an assistant turn or at the end.
const mayStayAt = (turns: readonly Turn[], index: number): boolean => {
  const before = turns.slice(0, index).findLast((turn) => !isSystem(turn));
  const after = turns.slice(index).find((turn) => !isSystem(turn));
  const follows =
    before !== undefined &&
    (before.role === 'user' ||
      before.role === 'tool' ||
      (before.role === 'assistant' && endsInServerTool(before)));
  return follows && (after === undefined || after.role === 'assistant');
};

const labelled = (turn: Turn): Turn => {
  const { raw: _raw, ...rest } = turn;
  return { ...rest, role: 'user', blocks: [{ type: 'text', text: SYSTEM_LABEL }, ...turn.blocks] };
};

/**
 * Where system and developer turns go: leading ones to the top-level field; later ones stay where
 * the model takes them there (A2), else they go to the top or wherever the policy says.
 */
export const systemPlaces = (
  turns: readonly Turn[],
  capabilities: Capabilities,
  { systemPolicy, strict }: EncodeOptions,
): E.Either<FaultOf<'OrderViolation'>, SystemPlaces> => {
  const found = turns.findIndex((turn) => !isSystem(turn));
  const start = found < 0 ? turns.length : found;
  const leading = turns.slice(0, start);
  if (strict) {
    const system = leading.filter(({ role }) => role === 'system');
    const others = turns.filter((turn) => !system.includes(turn));
    return E.right({ system, messages: others, repairs: [] });
  }
  const system = [...leading];
  const messages: Turn[] = [];
  const repairs: Repair[] = leading.flatMap(mapped);
  for (const [index, turn] of turns.entries()) {
    if (index < start) continue;
    if (!isSystem(turn)) {
      messages.push(turn);
      continue;
    }
    const stays = capabilities.systemInMessages === true && mayStayAt(turns, index);
    if (systemPolicy === 'labelled_user') {
      messages.push(labelled(turn));
      repairs.push({ code: 'ROLE_MAPPED', ...about(turn), from: turn.role, to: 'user' });
    } else if (systemPolicy === 'profile' && stays) {
      messages.push({ ...turn, role: 'system' });
      repairs.push(...mapped(turn));
    } else if (systemPolicy === 'reject') {
      const where = { profileRule: 'A2', index: turn.index, ids: turn.ids };
      return E.left({ _tag: 'OrderViolation', rule: 'system_placement', ...where });
    } else {
      system.push(turn);
      repairs.push(...mapped(turn), {
        code: 'SYSTEM_RELOCATED',
        ...about(turn),
        fromIndex: turn.index,
        toIndex: 0,
      });
    }
  }
  return E.right({ system, messages, repairs });
};
