import * as E from 'fp-ts/lib/Either.js';
import type { StemmaFault } from '../../../src/domain/errors.js';
import type { ImportPlan } from '../../../src/domain/import-plan.js';
import { planParentLinked } from '../../../src/infra/importers/parent-linked.js';
import type { Branch } from '../../../src/index.js';
import { build, builtDone, unasked, viewOf } from '../building.js';
import type { ReportEntry } from '../context-facts.js';
import { eventFacts, everyItem, leafPaths, sendablePath } from '../facts.js';
import { attempt, caseFault } from '../fault.js';
import type { CaseMessage } from '../input-shape.js';
import { addedSince } from '../moment.js';
import type { Done, Facts, Moment, Operate, Started } from '../run.js';
import type { Talk } from '../talk.js';
import { callIdsIn } from '../call-ids.js';

/** The records as a file of the source has them. Values that JSON cannot carry are written as it does. */
const fileOf = (records: readonly CaseMessage[]): Uint8Array =>
  new TextEncoder().encode(records.map((record) => `${JSON.stringify(record)}\n`).join(''));

/** A call that is nowhere in the case stands before its result, on the same path (rule 7). */
const withSetup = (
  talk: Talk,
  records: readonly CaseMessage[],
  known: ReadonlySet<string>,
): readonly CaseMessage[] => {
  const made = new Set(known);
  return records.flatMap((record): readonly CaseMessage[] => {
    const { role, tool_call_id: call, parent = null } = record;
    if (role !== 'tool' || call === undefined || made.has(call)) return [record];
    made.add(call);
    const id = `setup ${call}`;
    talk.setup.add(id);
    const tool_calls = [{ id: call, name: 'setup', arguments: '{}' }];
    return [
      { id, role: 'assistant', parent, tool_calls },
      { ...record, parent: id },
    ];
  });
};

const planned = (
  { input, talk }: Started,
  records: readonly CaseMessage[],
): E.Either<StemmaFault, ImportPlan> => {
  const { leaf, on_dangling: onDangling } = input.params;
  const file = fileOf(withSetup(talk, records, callIdsIn(input)));
  return planParentLinked(file, {
    ...(leaf === undefined ? {} : { leaf }),
    ...(onDangling === undefined ? {} : { onDangling }),
  });
};

/** Notes of an importer as entries of a report. */
const noteEntries = ({ report }: ImportPlan): readonly ReportEntry[] =>
  report.notes.map(({ code, id, detail }) => {
    const [from, to] = (detail ?? '').split(' -> ');
    return {
      code,
      ids: id === undefined ? [] : [id],
      ...(from === undefined || from === '' ? {} : { from }),
      ...(to === undefined || to === '' ? {} : { to }),
    };
  });

const recordKeys = (added: Moment['events']): readonly string[] =>
  added
    .filter(({ type }) => type === 'SourceRecordImported')
    .map(({ data }) => (JSON.parse(data) as { readonly recordKey: string }).recordKey);

/** The branch that the source shows as the current one: the promoted one, else the only one. */
const activeBranch = async (talk: Talk, conversation: string): Promise<Branch> => {
  const engine = talk.world.engine();
  const { promoted, main } = await engine.directory(conversation);
  return engine.open(`${conversation}/${promoted ?? main ?? 'main'}`);
};

/** The conversation that holds the record shown last. */
const activeIndex = ({ conversations }: ImportPlan): number =>
  Math.max(
    0,
    conversations.findIndex(({ branches }) => branches.some(({ active }) => active === true)),
  );

interface Taken {
  readonly plan: ImportPlan;
  /** Every conversation that the file became; the first is the active one. */
  readonly talks: readonly [Talk, ...Talk[]];
}

const take = async (started: Started, plan: ImportPlan): Promise<Taken> => {
  const { talk, world } = started;
  const { conversations } = await world.engine().importPlan(plan);
  const talks: Talk[] = [];
  for (const { conversation } of conversations) {
    const branch = await activeBranch(talk, conversation);
    const main = await world.engine().open(conversation);
    talks.push({ ...talk, conversation, branch, main });
  }
  const active = talks[activeIndex(plan)] ?? talk;
  return { plan, talks: [active, ...talks.filter((one) => one !== active)] };
};

const importFacts = (started: Started, { plan, talks }: Taken, before: Moment): Facts => {
  const [active] = talks;
  const paths = async (): Promise<readonly (readonly string[])[]> =>
    (await Promise.all(talks.map(leafPaths))).flat();
  const items = async () => (await Promise.all(talks.map(everyItem))).flat();
  return {
    branches: paths,
    roots: async () => new Set((await paths()).map(([first]) => first)).size,
    roles: async () => new Map((await items()).map(({ name, item }) => [name, item.message.role])),
    timestamps: async () =>
      new Map(
        (await items()).map(({ name, item: { message } }) => [
          name,
          message.claimedAt === undefined ? null : new Date(message.claimedAt).toISOString(),
        ]),
      ),
    ignored_ids: async () => recordKeys(addedSince(before.events, await started.world.snapshot())),
    active_path_ids: () => sendablePath(active),
    active_path_after: () => sendablePath(active),
    reimport: async () => {
      const now = await started.world.snapshot();
      await started.world.engine().importPlan(plan);
      return addedSince(now, await started.world.snapshot()).map(({ type }) => type);
    },
  };
};

const refused = async (started: Started, fault: StemmaFault, before: Moment): Promise<Done> => ({
  fault: await caseFault(fault, viewOf(started.talk)),
  facts: eventFacts(started.talk, () => before.events),
  roots: {},
  evidence: { profile: started.profile },
});

/** Hands the records to the importer of the source, and reads what it made of them. */
export const importFile: Operate = async (started) => {
  const { input, profile, talk } = started;
  const before = await started.mark();
  const plan = planned(started, input.messages);
  if (E.isLeft(plan)) return refused(started, plan.left, before);
  for (const message of input.messages) {
    if (message.id !== undefined) talk.given.set(message.id, message);
  }
  const taken = await attempt(() => take(started, plan.right));
  if ('fault' in taken) return refused(started, taken.fault, before);
  const [active] = taken.value.talks;
  Object.assign(talk, {
    branch: active.branch,
    main: active.main,
    conversation: active.conversation,
  });
  const built = await build({ talk, profile }, input.params);
  const kept = recordKeys(addedSince(before.events, await started.world.snapshot()));
  const sourceIds = input.messages.flatMap(({ id }) => id ?? []);
  const asked = input.params.then === 'convert' ? built : unasked(built);
  const done = await builtDone(started, asked, input.params, before.events, {
    facts: importFacts(started, taken.value, before),
    evidence: { imported: { plan: plan.right, sourceIds, kept } },
  });
  return { ...done, report: [...noteEntries(plan.right), ...(done.report ?? [])] };
};
