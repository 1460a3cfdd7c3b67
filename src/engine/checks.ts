import * as E from 'fp-ts/lib/Either.js';
import { checkMessages, type FoundViolation } from '../domain/context/check.js';
import type { StemmaFault } from '../domain/errors.js';
import type { ContextWarning, Repair } from '../domain/profiles/repair.js';
import type { BranchContext } from './engine-context.js';
import { readSurface, type ReadPoint } from './histories.js';
import { preview, type ContextOptions } from './model-calls.js';
import type { Task } from './runtime.js';

/** A rule of the profile that the messages break as they stand. */
export interface RuleFault {
  /** Id of the rule: `OC4`, `A7` … */
  readonly rule: string;
  readonly code: string;
  readonly reason?: string;
  readonly messageIds: readonly string[];
  /** Ids of the calls, where calls are concerned. */
  readonly callIds: readonly string[];
  readonly path?: string;
}

/** What a profile says about a branch before anything is sent (OR3). */
export interface CheckReport {
  readonly profile: { readonly id: string; readonly version: number };
  readonly messages: number;
  readonly faults: readonly RuleFault[];
  /** What a context would change to keep the rules. */
  readonly repairs: readonly Repair[];
  readonly warnings: readonly ContextWarning[];
  /** Why no context can be built all the same. */
  readonly refusal?: StemmaFault;
}

const aboutCalls: ReadonlySet<string> = new Set([
  'OpenToolCalls',
  'OrphanToolResult',
  'ToolArgumentsInvalid',
]);

const ruleFault = (found: FoundViolation): RuleFault => {
  const { rule, code, reason, ids, path, messageIds } = found;
  const isCall = aboutCalls.has(code) || reason === 'tool_result_not_adjacent';
  return {
    rule,
    code,
    ...(reason === undefined ? {} : { reason }),
    messageIds: messageIds.length > 0 || isCall ? messageIds : ids,
    callIds: isCall ? ids : [],
    ...(path === undefined ? {} : { path }),
  };
};

/** A fault that the encoder itself has, when nothing may be mended. */
const encoderFault = (fault: StemmaFault): RuleFault => ({
  rule: 'profileRule' in fault ? fault.profileRule : '-',
  code: fault._tag,
  ...('rule' in fault ? { reason: fault.rule } : {}),
  messageIds: 'ids' in fault ? fault.ids : [],
  callIds: [],
});

/** Every fault of a branch under a profile, and what a context would mend. Writes nothing. */
export const check =
  <Body extends object>(
    context: BranchContext,
    options: ContextOptions<Body>,
    point: ReadPoint = {},
  ): Task<CheckReport> =>
  async () => {
    const surface = await readSurface(context.runtime, context.histories, context.key, point)();
    if (E.isLeft(surface)) return surface;
    const { profile } = options;
    const found = checkMessages({ surface: surface.right, profile });
    const plan = await preview(context, options, point)();
    return E.right({
      profile: { id: profile.id, version: profile.version },
      messages: surface.right.items.length,
      faults: E.isLeft(found) ? [encoderFault(found.left)] : found.right.map(ruleFault),
      repairs: E.isLeft(plan) ? [] : plan.right.repairs,
      warnings: E.isLeft(plan) ? [] : plan.right.warnings,
      ...(E.isLeft(plan) ? { refusal: plan.left } : {}),
    });
  };
