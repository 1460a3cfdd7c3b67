import * as E from 'fp-ts/lib/Either.js';
import * as TE from 'fp-ts/lib/TaskEither.js';
import type { StemmaFault } from './domain/errors.js';
import {
  stemmaFace,
  type HandleOptions,
  type StartInput,
  type Stemma,
} from './face/stemma-face.js';
import { isStemmaError } from './face/stemma-error.js';
import type { Branch, ContextInput, RequestInput } from './face/branch-face.js';
import type { ModelCall, Reply } from './face/model-call-face.js';
import type { ToolCallHandle } from './face/tool-call-face.js';
import type { ContextPlan } from './domain/context/plan.js';
import type { ReadPoint } from './engine/histories.js';
import { openEngine, type OpenOptions } from './open.js';

/** What a caller's own function threw inside `send` or `run`; it was recorded as a failure. */
export interface CallerThrew {
  readonly _tag: 'CallerThrew';
  readonly error: unknown;
}

/** A fault of the engine, or what the caller's own function threw. */
export type Failure = StemmaFault | CallerThrew;

type Task<A> = TE.TaskEither<Failure, A>;

type Asked<F> = F extends (...args: infer A) => Promise<infer R> ? (...args: A) => Task<R> : F;

/** Every method that gives a promise, as one that gives a TaskEither. */
type Tasks<T> = { readonly [K in keyof T]: Asked<T[K]> };

type Replaced = 'start' | 'open' | 'export';

/** An open store; see `Stemma`. */
export interface StemmaTasks extends Omit<Tasks<Stemma>, Replaced> {
  readonly start: (input?: StartInput) => Task<BranchTasks>;
  readonly open: (reference: string, options?: HandleOptions) => Task<BranchTasks>;
  readonly export: (conversation: string) => Task<readonly string[]>;
}

type BranchReplaced = 'preview' | 'request' | 'fork' | 'retry' | 'openCalls' | 'as';

/** One branch; see `Branch`. */
export interface BranchTasks extends Omit<Tasks<Branch>, BranchReplaced> {
  readonly preview: <Body extends object>(
    options: ContextInput<Body>,
    point?: ReadPoint,
  ) => Task<ContextPlan<Body>>;
  readonly request: <Body extends object>(
    options: RequestInput<Body>,
  ) => Task<Tasks<Omit<ModelCall<Body>, 'stream'>>>;
  readonly fork: (...args: Parameters<Branch['fork']>) => Task<BranchTasks>;
  readonly retry: (...args: Parameters<Branch['retry']>) => Task<BranchTasks>;
  readonly openCalls: () => Task<readonly Tasks<ToolCallHandle>[]>;
  readonly as: (...args: Parameters<Branch['as']>) => BranchTasks;
}

export type ReplyTasks = Omit<Reply, 'toolCalls'> & {
  readonly toolCalls: readonly Tasks<ToolCallHandle>[];
};

const failure = (error: unknown): Failure =>
  isStemmaError(error) ? error.data : { _tag: 'CallerThrew', error };

const task = <A>(run: () => Promise<A>): Task<A> => TE.tryCatch(run, failure);

type AnyMethod = (...args: readonly unknown[]) => unknown;

/** Wraps each method of a face; what is no method stays as it is. */
const tasksOf = <T extends object>(face: T, replaced: object): Tasks<T> =>
  Object.fromEntries(
    Object.entries(face)
      .map(([name, value]: [string, unknown]) => [
        name,
        typeof value === 'function'
          ? (...args: readonly unknown[]) =>
              task(() => Promise.resolve((value as AnyMethod)(...args)))
          : value,
      ])
      .concat(Object.entries(replaced)),
  ) as Tasks<T>;

const branchTasks = (branch: Branch): BranchTasks => {
  const replaced: Pick<BranchTasks, BranchReplaced> = {
    preview: (options, point) => task(() => branch.preview(options, point)),
    request: (options) =>
      TE.map((call: ModelCall<never>) => {
        const { stream: _stream, ...rest } = call;
        return tasksOf(rest, {});
      })(task(() => branch.request(options) as Promise<ModelCall<never>>)),
    fork: (...args) => TE.map(branchTasks)(task(() => branch.fork(...args))),
    retry: (...args) => TE.map(branchTasks)(task(() => branch.retry(...args))),
    openCalls: () =>
      TE.map((calls: readonly ToolCallHandle[]) => calls.map((call) => tasksOf(call, {})))(
        task(branch.openCalls),
      ),
    as: (...args) => branchTasks(branch.as(...args)),
  };
  return tasksOf(branch, replaced) as unknown as BranchTasks;
};

const allLines = async (lines: AsyncIterable<string>): Promise<readonly string[]> => {
  const all: string[] = [];
  for await (const line of lines) all.push(line);
  return all;
};

/** Opens an engine on a store; the same as `openStemma` of `stemma`, as TaskEither. */
export const openStemma =
  (options: OpenOptions = {}): TE.TaskEither<StemmaFault, StemmaTasks> =>
  async () => {
    const context = await openEngine(options)();
    if (E.isLeft(context)) return context;
    const stemma = stemmaFace(context.right, options.as ?? { kind: 'app' });
    const replaced: Pick<StemmaTasks, Replaced> = {
      start: (input) => TE.map(branchTasks)(task(() => stemma.start(input))),
      open: (reference, handle) => TE.map(branchTasks)(task(() => stemma.open(reference, handle))),
      export: (conversation) => task(() => allLines(stemma.export(conversation))),
    };
    return E.right(tasksOf(stemma, replaced) as unknown as StemmaTasks);
  };
