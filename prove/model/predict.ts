import { append } from './naive-append.js';
import {
  annotate,
  fork,
  label,
  promote,
  redact,
  retry,
  setClosed,
  setInstructions,
  setStatus,
  withdraw,
} from './naive-branches.js';
import { claim, complete, endTurn, fail, request } from './naive-calls.js';
import { compact, merge, undo } from './naive-compactions.js';
import { abandon, ask, recover, resolve, startTool } from './naive-tools.js';
import { done, type World } from './naive.js';
import type { Expected, Step } from './steps.js';

type Rules = {
  readonly [K in Step['do']]: (
    world: World,
    step: Extract<Step, { readonly do: K }>,
    run: string,
  ) => Expected;
};

const rules: Rules = {
  append,
  instructions: setInstructions,
  status: setStatus,
  withdraw,
  redact,
  request,
  complete,
  fail,
  claim,
  endTurn,
  startTool,
  abandon,
  ask,
  resolve,
  recover,
  compact,
  undo,
  merge,
  fork,
  retry,
  label,
  promote,
  annotate,
  close: (world) => setClosed(world, true),
  reopen: (world) => setClosed(world, false),
  start: () => done({}, true),
};

/** What a step must answer; the world is then as it must be. */
export const predict = (world: World, step: Step, run: string): Expected =>
  (rules[step.do] as (world: World, step: Step, run: string) => Expected)(world, step, run);
