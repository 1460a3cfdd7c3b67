import * as E from 'fp-ts/lib/Either.js';
import type { StemmaFault } from '../domain/errors.js';
import type { Position } from '../domain/event-store.js';
import type { Uid } from '../domain/ids.js';
import { readStored, type Recorded } from '../domain/recorded.js';
import { parseStream } from '../domain/stream-name.js';
import {
  searchSteps,
  searchText,
  startSearchFeed,
  type SearchDocument,
  type SearchFeedDraft,
} from '../projections/searchable.js';
import {
  addText,
  emptyIndex,
  indexedUpTo,
  removeText,
  searchTexts,
  type TrigramIndex,
} from '../projections/trigram.js';
import { argumentFault } from './arguments.js';
import { openSlots } from './content.js';
import { left, type EngineContext } from './engine-context.js';
import type { Task } from './runtime.js';

/** A text that holds what was searched for. */
export interface SearchHit extends Pick<
  SearchDocument,
  'kind' | 'conversation' | 'branch' | 'revision' | 'messageId'
> {
  readonly text: string;
}

export interface SearchAnswer {
  readonly hits: readonly SearchHit[];
  /** Store position up to which texts were indexed when this was answered. */
  readonly position: string;
}

interface SearchState {
  readonly index: TrigramIndex;
  readonly feed: SearchFeedDraft;
  readonly documents: Map<string, { readonly document: SearchDocument; readonly text: string }>;
  position: Position | 'start';
  building: Promise<E.Either<StemmaFault, void>> | undefined;
}

/** The index of an engine: built on the first search, then brought up to date by each later one. */
const states = new WeakMap<EngineContext['states'], SearchState>();

const stateOf = (context: EngineContext): SearchState => {
  const known = states.get(context.states);
  if (known !== undefined) return known;
  const state: SearchState = {
    index: emptyIndex(),
    feed: startSearchFeed(),
    documents: new Map(),
    position: 'start',
    building: undefined,
  };
  states.set(context.states, state);
  return state;
};

const take = async (
  context: EngineContext,
  state: SearchState,
  recorded: Recorded,
): Promise<E.Either<StemmaFault, void>> => {
  for (const step of searchSteps(state.feed, recorded)) {
    if (step._tag === 'remove') {
      removeText(state.index, step.key);
      state.documents.delete(step.key);
      continue;
    }
    const { document } = step;
    const key = { tenant: context.tenant, conversation: document.conversation as Uid };
    const open = await openSlots(context.runtime, key, [...document.blocks, ...document.texts])();
    if (E.isLeft(open)) return open;
    const text = searchText(document, open.right);
    addText(state.index, document.key, text);
    state.documents.set(document.key, { document, text });
  }
  return E.right(undefined);
};

const catchUp = async (
  context: EngineContext,
  state: SearchState,
): Promise<E.Either<StemmaFault, void>> => {
  const { runtime, tenant } = context;
  const stop = new AbortController();
  const feed = runtime.events.feed({
    categories: ['conversation', 'branch'],
    after: state.position,
    signal: stop.signal,
  });
  for await (const item of feed) {
    if (item._tag === 'Fault') return E.left(item.fault);
    if (item._tag === 'CaughtUp') break;
    if (item._tag === 'Checkpoint') state.position = item.position;
    if (item._tag !== 'Events') continue;
    for (const stored of item.events) {
      state.position = stored.position;
      if (parseStream(stored.stream)?.tenant !== tenant) continue;
      const recorded = readStored(stored, runtime.upcasts);
      // A damaged event is found by verify; search goes on without it.
      if (E.isLeft(recorded)) continue;
      const taken = await take(context, state, recorded.right);
      if (E.isLeft(taken)) return taken;
    }
  }
  stop.abort();
  if (state.position !== 'start') indexedUpTo(state.index, state.position);
  return E.right(undefined);
};

const LIMIT = 1_000;

/** Texts that hold this text literally, the latest first; case and width do not count. */
export const search =
  (
    context: EngineContext,
    text: string,
    options: { readonly limit?: number } = {},
  ): Task<SearchAnswer> =>
  async () => {
    const { limit = 50 } = options;
    if (typeof text !== 'string') return left(argumentFault('text', 'wrong_type'));
    if (!Number.isSafeInteger(limit) || limit < 1) {
      return left({ _tag: 'InvalidArgument', name: 'limit', reason: 'out_of_range' });
    }
    const state = stateOf(context);
    state.building = (state.building ?? Promise.resolve()).then(() => catchUp(context, state));
    const built = await state.building;
    if (E.isLeft(built)) return built;
    const { keys, position } = searchTexts(state.index, text, { limit: Math.min(limit, LIMIT) });
    const hits = keys.flatMap((key): readonly SearchHit[] => {
      const found = state.documents.get(key);
      if (found === undefined) return [];
      const { kind, conversation, branch, revision, messageId } = found.document;
      const place = { kind, conversation, branch, revision };
      return [{ ...place, ...(messageId === undefined ? {} : { messageId }), text: found.text }];
    });
    return E.right({ hits, position });
  };
