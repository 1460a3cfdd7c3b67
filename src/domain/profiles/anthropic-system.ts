import * as E from 'fp-ts/lib/Either.js';
import type { FaultOf } from '../errors.js';
import type { EncodeWork, WireDraft } from './anthropic-work.js';
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

const relocated = (turn: Turn): Repair => ({
  code: 'SYSTEM_RELOCATED',
  ...about(turn),
  fromIndex: turn.index,
  toIndex: 0,
});

const labelled = (turn: Turn): Turn => {
  const { raw: _raw, ...rest } = turn;
  return { ...rest, role: 'user', blocks: [{ type: 'text', text: SYSTEM_LABEL }, ...turn.blocks] };
};

/**
 * Where system and developer turns go: leading ones to the top-level field; later ones may stay
 * where the model takes any, else they go to the top or wherever the policy says.
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
  for (const turn of turns.slice(start)) {
    if (!isSystem(turn)) {
      messages.push(turn);
      continue;
    }
    const mayStay = capabilities.systemInMessages === true;
    if (systemPolicy === 'labelled_user') {
      messages.push(labelled(turn));
      repairs.push({ code: 'ROLE_MAPPED', ...about(turn), from: turn.role, to: 'user' });
    } else if (systemPolicy === 'profile' && mayStay) {
      messages.push({ ...turn, role: 'system' });
      repairs.push(...mapped(turn));
    } else if (systemPolicy === 'reject') {
      const where = { profileRule: 'A2', index: turn.index, ids: turn.ids };
      return E.left({ _tag: 'OrderViolation', rule: 'system_placement', ...where });
    } else {
      system.push(turn);
      repairs.push(...mapped(turn), relocated(turn));
    }
  }
  return E.right({ system, messages, repairs });
};

const endsInServerTool = ({ role, content }: WireDraft): boolean => {
  const last = typeof content === 'string' ? undefined : content.at(-1);
  return role === 'assistant' && (last?.type as string | undefined) === 'server_tool_use';
};

/**
 * Takes the system messages out of the list that do not stand where the model takes one: behind a
 * user turn or a server tool, and in front of an assistant turn or at the end (A2). Gives their
 * turns back, for the top-level field.
 */
export const misplacedSystem = (work: Pick<EncodeWork, 'drafts' | 'repairs'>): readonly Turn[] => {
  const { drafts, repairs } = work;
  const moved: Turn[] = [];
  for (let index = 0; index < drafts.length;) {
    const draft = drafts[index];
    const before = drafts[index - 1];
    const after = drafts[index + 1];
    const follows = before !== undefined && (before.role === 'user' || endsInServerTool(before));
    const stays = follows && (after === undefined || after.role === 'assistant');
    if (draft?.role !== 'system' || stays) index += 1;
    else {
      drafts.splice(index, 1);
      moved.push(...draft.turns);
      repairs.push(...draft.turns.map(relocated));
    }
  }
  return moved;
};
