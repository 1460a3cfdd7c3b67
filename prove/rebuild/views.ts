import { createHash } from 'node:crypto';
import * as E from 'fp-ts/lib/Either.js';
import {
  emptyBranch,
  foldBranch,
  inheritState,
  type BranchState,
} from '../../src/domain/branch-state.js';
import { emptyDirectory, foldDirectory } from '../../src/domain/directory-state.js';
import type { StoredEvent } from '../../src/domain/event-store.js';
import { readStored, type Recorded } from '../../src/domain/recorded.js';
import type { Opened, Slot } from '../../src/domain/slot.js';
import { parseStream } from '../../src/domain/stream-name.js';
import { audit } from '../../src/projections/audit.js';
import { modelCalls } from '../../src/projections/calls.js';
import { catalog } from '../../src/projections/catalog.js';
import { freeze, freezeFor, thaw, thawFor } from '../../src/projections/checkpoint.js';
import { encodeView } from '../../src/projections/encode-view.js';
import { exposure } from '../../src/projections/exposure.js';
import { history, historyRows } from '../../src/projections/history.js';
import { lineage } from '../../src/projections/lineage.js';
import type { Projection } from '../../src/projections/projection.js';
import {
  searchSteps,
  searchText,
  startSearchFeed,
  type SearchFeedDraft,
} from '../../src/projections/searchable.js';
import { surfaceOf } from '../../src/projections/surface.js';
import { timeline } from '../../src/projections/timeline.js';
import { toolExchanges } from '../../src/projections/tool-exchanges.js';
import {
  addText,
  emptyIndex,
  removeText,
  type TrigramIndex,
} from '../../src/projections/trigram.js';
import { usage } from '../../src/projections/usage.js';
import { startVerify, verifyPage, verifyReport } from '../../src/projections/verify.js';

/** How a fold is cut: how many events at a time, and after which of them the draft becomes a text. */
export interface Cut {
  readonly size: number;
  /** Whether the draft is frozen and thawed behind batch `index`. */
  readonly rests: (index: number) => boolean;
}

/** The conversation as it was read: each stream in its own order. */
export interface Read {
  readonly directory: readonly Recorded[];
  /** By uid, in the order in which branches came to be. */
  readonly branches: ReadonlyMap<string, readonly Recorded[]>;
  readonly all: readonly Recorded[];
  readonly stored: readonly StoredEvent[];
}

export const readEvents = (stored: readonly StoredEvent[]): Read => {
  const directory: Recorded[] = [];
  const branches = new Map<string, Recorded[]>();
  const all: Recorded[] = [];
  for (const event of stored) {
    const recorded = readStored(event);
    if (E.isLeft(recorded)) throw new Error(`unreadable event: ${recorded.left._tag}`);
    const name = parseStream(event.stream);
    if (name?.kind === 'conversation') directory.push(recorded.right);
    if (name?.kind === 'branch') {
      const own = branches.get(name.branch) ?? [];
      own.push(recorded.right);
      branches.set(name.branch, own);
    }
    if (name?.kind === 'conversation' || name?.kind === 'branch') all.push(recorded.right);
  }
  return { directory, branches, all, stored };
};

const lineageOf = (read: Read, branch: string): readonly Recorded[] => {
  const own = read.branches.get(branch) ?? [];
  const first = own[0]?.event;
  if (first?.type !== 'BranchForked') return own;
  const { parent } = first.data;
  const before = lineageOf(read, parent.branch);
  const cut = before.findIndex(
    ({ meta, revision }) => meta.branch === parent.branch && revision === parent.revision,
  );
  return [...before.slice(0, cut + 1), ...own];
};

const foldIn = <Draft, View>(
  projection: Projection<Draft, View>,
  events: readonly Recorded[],
  { size, rests }: Cut,
): View => {
  let draft = projection.start();
  for (let at = 0, index = 0; at < events.length; at += size, index += 1) {
    for (const recorded of events.slice(at, at + size)) projection.apply(draft, recorded);
    if (!rests(index)) continue;
    const thawed = thawFor(projection, freezeFor(projection, draft));
    if (thawed === undefined) throw new Error(`${projection.name}: a checkpoint did not come back`);
    draft = thawed;
  }
  return projection.view(draft);
};

// Large bodies are not at hand here: what is said of them is the same in every fold.
const openInline = (slot: Slot): Opened =>
  'inline' in slot ? { _tag: 'text', text: slot.inline } : { _tag: 'erased' };

const surfaceText = (read: Read, branch: string, events: readonly Recorded[], cut: Cut): string => {
  const view = foldIn(history, events, cut);
  const conversation = read.directory[0]?.meta.conv ?? '';
  return encodeView([
    historyRows(view).map(({ place }) => place),
    surfaceOf(view, openInline, {
      conversation: conversation as never,
      branch: branch as never,
      revision: view.head?.revision ?? -1,
      directoryRevision: view.directoryRevision,
    }),
  ]);
};

const verifyTexts = (read: Read, { size }: Cut): readonly string[] => {
  const streams = [...new Set(read.stored.map(({ stream }) => stream))];
  return streams.map((stream) => {
    const draft = startVerify(stream);
    const events = read.stored.filter((event) => event.stream === stream);
    for (let at = 0; at < events.length; at += size) {
      verifyPage(draft, events.slice(at, at + size), {});
    }
    return encodeView(verifyReport(draft));
  });
};

const searchIndexText = ({ all }: Read, { size, rests }: Cut): string => {
  let [draft, index]: [SearchFeedDraft, TrigramIndex] = [startSearchFeed(), emptyIndex()];
  for (let at = 0, batch = 0; at < all.length; at += size, batch += 1) {
    for (const recorded of all.slice(at, at + size)) {
      for (const step of searchSteps(draft, recorded)) {
        if (step._tag === 'remove') removeText(index, step.key);
        else addText(index, step.document.key, searchText(step.document, openInline));
      }
    }
    if (rests(batch)) {
      draft = thaw(freeze(draft)) as SearchFeedDraft;
      index = thaw(freeze(index)) as TrigramIndex;
    }
  }
  return encodeView([draft, index]);
};

const stateOf = (read: Read, branch: string, cut: Cut): BranchState => {
  const own = read.branches.get(branch) ?? [];
  const first = own[0]?.event;
  let state = emptyBranch;
  if (first?.type === 'BranchForked') {
    const { parent } = first.data;
    const before = read.branches.get(parent.branch)?.slice(0, parent.revision + 1) ?? [];
    const parts = { ...read, branches: new Map([...read.branches, [parent.branch, before]]) };
    state = inheritState(stateOf(parts, parent.branch, cut));
  }
  for (let at = 0, index = 0; at < own.length; at += cut.size, index += 1) {
    state = foldBranch(state, own.slice(at, at + cut.size));
    if (cut.rests(index)) state = thaw(freeze(state)) as BranchState;
  }
  return state;
};

/** Two streams as one list: each keeps its own order, and `takesDirectory` says which is next. */
const interleaved = (
  events: readonly Recorded[],
  directory: readonly Recorded[],
  takesDirectory: () => boolean,
): readonly Recorded[] => {
  const [own, other] = [[...events], [...directory]];
  const merged: Recorded[] = [];
  while (own.length > 0 || other.length > 0) {
    const next = (takesDirectory() ? other.shift() : own.shift()) ?? own.shift() ?? other.shift();
    if (next !== undefined) merged.push(next);
  }
  return merged;
};

const sha256 = (texts: readonly string[]): string => {
  const hash = createHash('sha256');
  for (const text of texts) hash.update(`${text}\n`);
  return hash.digest('hex');
};

/** The digest of every projection of a conversation, folded in one way. */
export const digestsOf = (
  read: Read,
  cut: Cut,
  takesDirectory: () => boolean,
): Readonly<Record<string, string>> => {
  const branches = [...read.branches.keys()];
  const ofBranches = (text: (branch: string, events: readonly Recorded[]) => string): string =>
    sha256(
      branches.map((branch) =>
        text(branch, interleaved(lineageOf(read, branch), read.directory, takesDirectory)),
      ),
    );
  const folded = <Draft, View>(projection: Projection<Draft, View>): string =>
    ofBranches((_branch, events) => encodeView(foldIn(projection, events, cut)));
  const whole = <Draft, View>(projection: Projection<Draft, View>): string => {
    const events = [...read.directory, ...branches.flatMap((uid) => read.branches.get(uid) ?? [])];
    return sha256([encodeView(foldIn(projection, events, cut))]);
  };
  return {
    history: folded(history),
    surface: ofBranches((branch, events) => surfaceText(read, branch, events, cut)),
    timeline: folded(timeline),
    calls: folded(modelCalls),
    toolExchanges: folded(toolExchanges),
    exposure: folded(exposure),
    usage: folded(usage),
    audit: whole(audit),
    lineage: whole(lineage),
    catalog: whole(catalog),
    verify: sha256(verifyTexts(read, cut)),
    search: sha256([searchIndexText(read, cut)]),
    state: sha256(branches.map((branch) => encodeView(stateOf(read, branch, cut)))),
    directory: sha256([encodeView(foldDirectory(emptyDirectory, read.directory))]),
  };
};
