import type { CaseInput } from '../read-case.js';
import { everyItem, leafPaths } from '../facts.js';
import { isStemmaError } from '../../../src/index.js';
import { bytesFor } from '../operations/perf.js';
import { resumePlan } from '../sessions.js';
import { toolboxOf } from '../policy.js';
import type { Run } from '../run.js';
import { isFields, isList } from '../shape.js';
import { rowsOf } from '../talk.js';
import { isEqual, sameSet, shown } from '../values.js';
import type { CaseMessage } from '../input-shape.js';
import { NOTHING_TO_LOOK_AT, firstWrong, type Check } from './judged.js';

export const coversExactlyNamedIds: Check = ({ run, expected }) => {
  const { compaction } = run.evidence;
  if (compaction === undefined) return 'there was no compaction';
  const begun = run.input.events.find(({ type }) => type === 'CompactionStarted');
  const named =
    run.input.params.finish?.covers_ids ??
    expected.covers_ids ??
    (begun?.data as { readonly covers_ids?: readonly string[] } | undefined)?.covers_ids;
  if (named === undefined) return 'the case names no ids to cover';
  return sameSet(named, compaction.covered)
    ? undefined
    : `${shown(compaction.covered)} is covered, not ${shown(named)}`;
};

/** Runs all calls that may be run as a loop would, and tells which ones really ran. */
const runEverything = async ({ talk, input }: Run): Promise<ReadonlySet<string>> => {
  const ran = new Set<string>();
  for (const handle of await talk.branch.openCalls()) {
    const tools = toolboxOf(input.params, () => ran.add(handle.id));
    const box = Object.hasOwn(tools, handle.name)
      ? tools
      : {
          ...tools,
          [handle.name]: {
            run: () => {
              ran.add(handle.id);
              return 'done';
            },
          },
        };
    try {
      await handle.run(box);
    } catch (error) {
      if (!isStemmaError(error)) throw error;
    }
  }
  return ran;
};

const startedCalls = async ({ talk }: Run): Promise<readonly string[]> => {
  const { exchanges } = await talk.branch.toolExchanges();
  return exchanges
    .filter(({ state, attempts }) => {
      const effect = attempts.at(-1)?.effect;
      return state === 'started' && effect === 'non_idempotent';
    })
    .map(({ callId }) => callId);
};

const neverRun =
  (callsOf: (run: Run) => Promise<readonly string[]>): Check =>
  async ({ again }) => {
    const run = await again();
    const calls = await callsOf(run);
    const { rerun_allowed: allowed } = await resumePlan(run.talk);
    const offered = calls.find((id) => allowed.includes(id));
    if (offered !== undefined) return `${offered} may be run again`;
    const ran = await runEverything(run);
    const done = calls.find((id) => ran.has(id));
    return done === undefined ? undefined : `${done} was run again`;
  };

export const answeredCallsNeverRerun: Check = neverRun(
  async ({ talk }) => (await resumePlan(talk)).answered,
);

export const startedNonIdempotentNeverAutoRerun: Check = neverRun(startedCalls);

export const noNodeLost: Check = ({ run }) => {
  const { imported } = run.evidence;
  if (imported === undefined) return 'nothing was imported';
  const stored = new Set(
    run.after.events.flatMap(({ type, data }) => {
      const parsed = JSON.parse(data) as { readonly message?: { readonly id?: string } };
      const isMessage = type === 'MessageAppended' || type === 'ToolResultAttached';
      return isMessage && parsed.message?.id !== undefined ? [parsed.message.id] : [];
    }),
  );
  const lost = imported.sourceIds.find((id) => !stored.has(id) && !imported.kept.includes(id));
  return lost === undefined ? undefined : `${lost} is neither a message nor a kept record`;
};

export const provenanceRecorded: Check = async ({ run }) => {
  const items = await everyItem(run.talk);
  if (items.length === 0) return 'there are no messages';
  return firstWrong(items, ({ name, item: { message } }) => {
    const { system, sourceId, import: importId } = message.provenance;
    return system !== undefined && sourceId !== undefined && importId !== undefined
      ? undefined
      : `${name} does not name system, source id and import: ${shown(message.provenance)}`;
  });
};

/** The same records with their times turned round. */
const shuffled = (input: CaseInput): CaseInput => {
  const times = input.messages.map(({ created_at: time }) => time).reverse();
  const any = times.some((time) => time !== undefined);
  const messages = input.messages.map((message, index): CaseMessage => {
    const at = any ? times[index] : `20${String(90 - index)}-01-01T00:00:00Z`;
    const { created_at: _before, ...rest } = message;
    return at === undefined ? rest : { ...rest, created_at: at };
  });
  return { ...input, messages };
};

/** Whether a path goes from each message to one below it, past records and within groups. */
const follows = (
  parents: ReadonlyMap<string, string | undefined>,
  path: readonly string[],
): boolean =>
  path.every((name, index) => {
    const before = new Set(path.slice(0, index));
    for (let at = parents.get(name); at !== undefined; at = parents.get(at)) {
      if (before.has(at)) return true;
    }
    return index === 0;
  });

export const orderFromParentLinksNotTime: Check = async ({ run, again }) => {
  const paths = (await run.facts.branches?.()) ?? (await leafPaths(run.talk));
  const parents = new Map(
    run.input.messages.map(({ id = '', parent }) => [id, parent ?? undefined]),
  );
  const odd = paths.find((path) => !follows(parents, path));
  if (odd !== undefined) return `${shown(odd)} does not follow the parents`;
  const other = await again({ input: shuffled });
  const turned = (await other.facts.branches?.()) ?? (await leafPaths(other.talk));
  if (!sameSet(paths, turned)) return `with other times the paths are ${shown(turned)}`;
  const [active, second] = [run.facts.active_path_ids, other.facts.active_path_ids];
  return isEqual(await active?.(), await second?.())
    ? undefined
    : 'with other times another path is shown';
};

const textOf = (content: unknown): string => {
  if (typeof content === 'string') return content;
  const parts = isList(content) ? content.filter(isFields) : [];
  return parts.flatMap(({ text }) => (typeof text === 'string' ? [text] : [])).join('\n');
};

interface Issued {
  readonly key: string;
  readonly id: string;
  result?: string;
}

const sameJson = (text: unknown): string => {
  const sorted = (_key: string, value: unknown): unknown =>
    typeof value === 'object' && value !== null && !isList(value)
      ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
      : value;
  try {
    return JSON.stringify(typeof text === 'string' ? (JSON.parse(text) as unknown) : text, sorted);
  } catch {
    return String(text);
  }
};

/** Calls as the case issues them, each with the result that answers it. */
const issuedCalls = (messages: readonly CaseMessage[]): readonly Issued[] => {
  const calls: Issued[] = [];
  for (const { role, tool_calls: made = [], tool_call_id: answered, content } of messages) {
    for (const { id = '', name, arguments: args } of made) {
      calls.push({ key: `${name} ${sameJson(args ?? {})}`, id });
    }
    const open = calls.findLast((call) => call.id === answered && call.result === undefined);
    if (role === 'tool' && open !== undefined) open.result = textOf(content);
  }
  return calls;
};

export const orderOfCallsNotOfResults: Check = ({ run }) => {
  const { results } = run.evidence;
  const { requests } = run.input.params;
  if (results === undefined || requests === undefined) return 'nothing was replayed';
  const calls = issuedCalls(run.input.messages);
  const used = new Map<string, number>();
  return firstWrong(requests.entries(), ([index, { name, arguments: args }]) => {
    const key = `${name} ${sameJson(args)}`;
    const at = used.get(key) ?? 0;
    used.set(key, at + 1);
    const wanted = calls.filter((call) => call.key === key)[at]?.result;
    return results[index]?.text === wanted
      ? undefined
      : `request ${String(index)} got ${shown(results[index]?.text)}, not ${shown(wanted)}`;
  });
};

export const storedBytesLinearInCount: Check = async ({ run }) => {
  const points = (run.input.params.read_after_messages ?? []).filter((point) => point > 100);
  if (points.length < 2) return 'there are no two read points above 100';
  const bytes: number[] = [];
  for (const point of points) bytes.push(await bytesFor(run.started, point));
  return firstWrong(points.entries(), ([at, n]) =>
    firstWrong(points.slice(0, at).entries(), ([before, m]) => {
      const [own = 0, other = 0] = [bytes[at], bytes[before]];
      return m >= n || own <= 1.2 * (n / m) * other
        ? undefined
        : `${String(own)} bytes at ${String(n)} messages, ${String(other)} at ${String(m)}`;
    }),
  );
};

const FEW = 100;
const ENDS = 20;

/** All versions of a short history; of a long one both ends, the read points, and every so many. */
const versionsOf = (length: number, points: readonly number[]): readonly number[] => {
  const all = Array.from({ length }, (_one, version) => version);
  if (length <= FEW) return all;
  const step = Math.ceil(length / (FEW - 2 * ENDS));
  const near = new Set(points.flatMap((point) => [point - 2, point - 1, point]));
  return all.filter(
    (version) =>
      version < ENDS || version >= length - ENDS || version % step === 0 || near.has(version),
  );
};

export const everyVersionReadable: Check = async ({ run }) => {
  const rows = await rowsOf(run.talk);
  if (rows.length === 0) return NOTHING_TO_LOOK_AT;
  for (const version of versionsOf(rows.length, run.input.params.read_after_messages ?? [])) {
    const revision = rows[version]?.entry.place.revision ?? -1;
    const then = await rowsOf(run.talk, run.talk.branch, revision);
    if (then.length !== version + 1) {
      return `version ${String(version)} has ${String(then.length)} messages`;
    }
  }
  return undefined;
};

export const plainTextNotRecoverable: Check = () => 'it can be checked for redact only';
