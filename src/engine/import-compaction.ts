import * as E from 'fp-ts/lib/Either.js';
import { compactContext } from '../domain/decide/compaction.js';
import { digestOf } from '../domain/digest.js';
import type { StemmaFault } from '../domain/errors.js';
import type { Run } from '../domain/events/references.js';
import type { Uid } from '../domain/ids.js';
import type { ImportedCompaction } from '../domain/import-plan.js';
import { prepare } from '../domain/intake.js';
import { lowestTrust } from '../domain/message.js';
import { loadBranch } from './branch-loader.js';
import { slotMaker } from './content.js';
import { actorText, scopeOf, type BranchContext } from './engine-context.js';
import { onBranch } from './execute.js';
import { historyRows } from '../projections/history.js';
import { readHistory } from './histories.js';
import { recordKey } from './import-items.js';
import { lookUp } from './known-ids.js';

const runsOver = (
  places: readonly { readonly branch: Uid; readonly revision: number }[],
): readonly Run[] => {
  const runs: { branch: Uid; from: number; to: number }[] = [];
  for (const { branch, revision } of places) {
    const last = runs.at(-1);
    if (last?.branch === branch && revision > last.to) last.to = revision;
    else runs.push({ branch, from: revision, to: revision });
  }
  return runs;
};

/** Records a compaction of the source as it happened, once. */
export const importCompaction = async (
  system: string,
  context: BranchContext,
  item: ImportedCompaction,
): Promise<E.Either<StemmaFault, number>> => {
  const { runtime, states, key } = context;
  const compaction = `k-${digestOf(`${system} ${item.record}`).slice(3, 25)}`;
  const loaded = await loadBranch(runtime, states, key)();
  if (E.isLeft(loaded)) return loaded;
  if (loaded.right.state.compactions.has(compaction)) return E.right(0);
  const known = [recordKey(system, item.record)];
  const facts = await lookUp(runtime, key.conversation, loaded.right.lineage, known)();
  if (E.isLeft(facts)) return facts;
  if (facts.right.of('record', known[0]?.id ?? '').length > 0) return E.right(0);
  const view = await readHistory(runtime, context.histories, key)();
  if (E.isLeft(view)) return view;
  const ids = new Set(item.covers);
  const rows = historyRows(view.right).flatMap((row) => {
    if (row.kind === 'instructions') return [];
    // A summary may itself be covered by a later one.
    const message = row.kind === 'summary' ? row.data.replacement : row.message;
    return message !== undefined && ids.has(message.id) ? [{ place: row.place, message }] : [];
  });
  if (rows.length === 0) return E.right(0);
  const covered = rows.map(({ message }) => message.id);
  const trusts = rows.map(({ message }) => message.trust);
  const slots = slotMaker(runtime, key.conversation);
  const replacement = item.replacement && prepare(item.replacement, slots.make);
  const command = compactContext({
    scope: scopeOf(context),
    plannedAt: loaded.right.state.head,
    compaction: {
      compaction,
      covers: runsOver(rows.map(({ place }) => place)),
      covered,
      coveredDigest: digestOf(JSON.stringify(covered)),
      shortened: [],
      strategy: item.strategy,
      strategyVersion: 1,
      tokensBefore: 0,
      tokensAfter: 0,
      trust: lowestTrust(trusts),
    },
    ...(replacement === undefined ? {} : { replacement }),
    imported: known,
  });
  const given = { actor: actorText(context.as), run: context.run, slots };
  const done = await onBranch(runtime, states, key, command, given)();
  return E.isLeft(done) ? done : E.right(done.right.written.length);
};
