import type { StemmaFault, ToolArgumentsRule } from '../errors.js';
import type { ToolCall } from '../message.js';
import type { Profile } from '../profiles/profile.js';
import type { Repair } from '../profiles/repair.js';
import { argumentsFault, isBlank, onBadArguments } from './arguments.js';
import type { Exchanges } from './exchanges.js';
import type { ContextPolicy } from './policy.js';

/** What the policy does about calls whose arguments are no JSON object. */
export interface BadArguments {
  readonly isDropped: (call: ToolCall) => boolean;
  readonly repairsOf: (exchanges: Exchanges) => readonly Repair[];
  readonly refusalOf: (
    exchanges: Exchanges,
    chosen: ReadonlyMap<number, unknown>,
  ) => StemmaFault | undefined;
}

const faultOf = (call: ToolCall): ToolArgumentsRule | undefined =>
  isBlank(call.arguments) ? undefined : argumentsFault(call.arguments);

/** Calls to drop, to refuse and to report under this policy; nothing is guessed. */
export const badArguments = (policy: ContextPolicy, profile: Profile): BadArguments => {
  const chosen = onBadArguments(policy, profile);
  const isDropped = (call: ToolCall): boolean =>
    chosen === 'drop_pair' && faultOf(call) !== undefined;
  return {
    isDropped,
    repairsOf: ({ calls }) =>
      [...calls.values()].flatMap(({ dropped, ref, call }): readonly Repair[] =>
        dropped && isDropped(call)
          ? [
              {
                code: 'TOOL_ARGS_NOT_JSON',
                id: ref.messageId,
                toolCallId: call.id,
                action: 'drop_pair',
              },
            ]
          : [],
      ),
    refusalOf: ({ calls }, sent) => {
      if (chosen !== 'reject' || policy.strict) return undefined;
      const bad = [...calls.values()].filter(
        ({ caller, call, dropped }) => sent.has(caller) && !dropped && faultOf(call) !== undefined,
      );
      const [first] = bad;
      const rule = first === undefined ? undefined : faultOf(first.call);
      if (rule === undefined) return undefined;
      const profileRule = profile.argumentsRule;
      return {
        _tag: 'ToolArgumentsInvalid',
        ids: bad.map(({ call }) => call.id),
        rule,
        ...(profileRule !== undefined && { profileRule }),
      };
    },
  };
};
