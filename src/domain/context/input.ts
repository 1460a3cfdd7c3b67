import type { SelectionRun } from '../events/model-call-events.js';
import type { CallRef } from '../message.js';
import type { Profile } from '../profiles/profile.js';
import type { Surface } from '../surface.js';
import type { TokenCounter } from '../tokens.js';
import type { ToolDefinition } from '../tool.js';
import type { ContextPlan, InputLiteral } from './plan.js';
import type { ContextPolicy } from './policy.js';

/** Everything that a context is a function of (CX1). */
export interface ContextInput<Body extends object> {
  readonly surface: Surface;
  readonly profile: Profile<Body>;
  /** Fields that differ from the default policy. */
  readonly policy?: Partial<ContextPolicy>;
  readonly tools?: readonly ToolDefinition[];
  readonly params?: Readonly<Record<string, unknown>>;
  readonly literals?: readonly InputLiteral[];
  readonly counter: TokenCounter;
  /** Calls that wait for an approval: never repaired away. */
  readonly pending?: readonly CallRef[];
  /** The context of the call before, to report where the prefix changed. */
  readonly previous?: ContextPlan;
  /** A recorded selection, taken over instead of selecting again. */
  readonly selection?: readonly SelectionRun[];
}
