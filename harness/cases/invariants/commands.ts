import { messagesOf } from '../input-shape.js';
import { send } from '../operations/append.js';
import { inScope, tenantOf } from '../operations/multi-tenant.js';
import type { CaseInput } from '../read-case.js';
import type { CommandTrace, Run } from '../run.js';
import { rowsOf } from '../talk.js';
import { parseStream } from '../../../src/domain/stream-name.js';
import { isEqual, shown } from '../values.js';
import { storeNames, type StoreName } from '../words.js';
import { firstWrong, type Check } from './judged.js';

const ofCommands =
  (check: (commands: readonly CommandTrace[], run: Run) => ReturnType<Check>): Check =>
  ({ run }) =>
    run.evidence.commands === undefined || run.evidence.commands.length === 0
      ? 'there are no commands'
      : check(run.evidence.commands, run);

const isWritten = ({ status }: CommandTrace): boolean => status !== 'error';

export const appendNeverHalfDone: Check = ofCommands((commands) =>
  firstWrong(commands, (command) => {
    const { ids, storedBefore, storedAfter } = command;
    if (!isWritten(command)) {
      return isEqual(storedBefore, storedAfter)
        ? undefined
        : `a refused command left ${shown(storedAfter)} behind`;
    }
    return storedAfter.length === ids.length || storedAfter.length === storedBefore.length
      ? undefined
      : `of ${shown(ids)} only ${shown(storedAfter)} was stored`;
  }),
);

export const noInterleavingInsideABatch: Check = ofCommands(async (commands, { talk }) => {
  const places = new Map((await rowsOf(talk)).map(({ id, position }) => [id, position]));
  const batches = commands.filter((command) => isWritten(command) && command.ids.length > 1);
  return firstWrong(batches, ({ ids }) => {
    const positions = ids.flatMap((id) => places.get(id) ?? []);
    const [first = 0] = positions;
    const isRow = positions.every((position, index) => position === first + index);
    return isRow ? undefined : `${shown(ids)} stand at ${shown(positions)}`;
  });
});

export const redeliveryIsReplayNotConflict: Check = async ({ again }) => {
  const run = await again();
  const commands = (run.evidence.commands ?? []).filter(isWritten);
  if (commands.length === 0) return 'there are no commands';
  for (const { messages, commandId, ids } of commands) {
    const options = commandId === undefined ? {} : { commandId };
    const named = messages.map((message, index) => ({
      ...message,
      id: message.id ?? ids[index] ?? '',
    }));
    const { result } = await send(
      run.talk,
      commandId === undefined ? named : messages,
      options,
      messages.length === 1,
    );
    if (result.status !== 'replayed') {
      return `${shown(ids)} sent again is ${String(result.status)}`;
    }
  }
  return undefined;
};

const outcomes = async (run: Run): Promise<unknown> => {
  const results = (await run.facts.results?.()) ?? [];
  return {
    results: results.map(({ status, positions, version, fault }) => [
      status,
      positions,
      version,
      fault?.fault._tag,
    ]),
    history: (await rowsOf(run.talk)).map(({ id, entry }) => [id, entry.message.contentDigest]),
    events: run.after.events.map(({ stream, id, type }) => [stream, id, type]),
  };
};

export const sameResultInEveryStore: Check = async ({ run, again }) => {
  const names: readonly StoreName[] = run.input.params.stores ?? storeNames;
  const alone =
    (store: StoreName) =>
    (input: CaseInput): CaseInput => ({
      ...input,
      params: { ...input.params, stores: [store] },
    });
  const wanted = await outcomes(run);
  for (const store of names) {
    const other = await outcomes(await again({ store, input: alone(store) }));
    if (!isEqual(wanted, other)) return `${store} gives ${shown(other)}, not ${shown(wanted)}`;
  }
  return undefined;
};

export const orderByStreamPositionOnly: Check = async ({ run, again }) => {
  const { commands } = run.evidence;
  const order = async (of: Run): Promise<readonly string[]> =>
    (await rowsOf(of.talk)).map(({ id }) => id);
  const found = await order(run);
  const accepted = [...new Set((commands ?? []).filter(isWritten).flatMap(({ ids }) => ids))];
  const wanted = commands === undefined ? [...run.talk.given.keys()] : accepted;
  const among = found.filter((id) => wanted.includes(id));
  if (!isEqual(among, wanted)) return `${shown(wanted)} was appended, ${shown(found)} is read`;
  const backwards = (input: CaseInput): CaseInput => ({
    ...input,
    params: { ...input.params, clock_steps_ms: Array.from({ length: 1_000 }, () => -1_000) },
  });
  const other = await order(await again({ input: backwards }));
  return isEqual(found, other)
    ? undefined
    : 'with a clock that runs backwards the order is another';
};

export const storageLimitIsExactAndNewest: Check = async ({ run }) => {
  const { max_items: limit } = run.input.params;
  const find = run.facts.storage_read_ids;
  if (typeof limit !== 'number' || find === undefined) return 'the case names no max_items';
  const newest = (await rowsOf(run.talk)).map(({ name }) => name).slice(-limit);
  const read = await find();
  return isEqual(read, newest) ? undefined : `${shown(read)} was read, not ${shown(newest)}`;
};

const appended = (run: Run) =>
  (run.input.params.commands ?? []).flatMap(({ append, ...command }, index) =>
    append === undefined || run.evidence.results?.[index]?.status !== 'appended'
      ? []
      : [{ ...command, append }],
  );

export const messageIdsUniquePerTenantAndSessionOnly: Check = async ({ again }) => {
  const run = await again();
  const commands = appended(run);
  if (commands.length === 0) return 'nothing was appended';
  for (const [index, command] of commands.entries()) {
    const other = messagesOf(command.append).map(({ id }) => ({
      ...(id === undefined ? {} : { id }),
      role: 'user',
      content: 'other words',
    }));
    const places = [
      { as: command.as, session: `other-session-${String(index)}` },
      { as: `other-tenant-${String(index)}`, session: command.session ?? 'session' },
    ];
    for (const place of places) {
      const { result } = await inScope(run.started, { ...place, append: other }, 'again');
      if (result.status !== 'appended') {
        return `the ids of command ${String(index)} are ${String(result.status)} in ${shown(place)}`;
      }
    }
  }
  return undefined;
};

export const missingScopeFailsClosed: Check = async ({ run }) => {
  const { commands = [] } = run.input.params;
  const { results = [] } = run.evidence;
  const open = commands.findIndex(({ as }, index) => {
    const result = results[index];
    return tenantOf(as) === '' && result?.status !== 'error';
  });
  if (open >= 0) return `command ${String(open)} was answered without a scope`;
  const session = commands.find((command) => command.session !== undefined)?.session ?? 'session';
  const append = { id: 'none', role: 'user', content: 'none' };
  const tries = [
    { session, append },
    { session, op: 'read' as const },
    { session, op: 'search' as const, text: 'a' },
    { session, op: 'delete' as const },
  ];
  for (const command of tries) {
    const { result } = await inScope(run.started, { ...command, as: null }, 'again');
    if (result.fault === undefined) return `${shown(command)} was answered without a scope`;
    if (result.fault.fault._tag !== 'Forbidden')
      return `it is refused as ${result.fault.fault._tag}`;
  }
  return undefined;
};

const alike: readonly (readonly [string, string])[] = [
  ['a', 'b.c'],
  ['a.b', 'c'],
  ['a', 'b/c'],
  ['a/b', 'c'],
  ['a', 'b-c'],
  ['a-b', 'c'],
  ['a', 'b c'],
  ['a b', 'c'],
  ['ab', 'c'],
  ['a', 'bc'],
  ['A', 'bc'],
  ['a', 'BC'],
];

export const streamNameInjective: Check = async ({ run, again }) => {
  const other = await again();
  const given = (run.input.params.commands ?? []).flatMap(({ as, session }) =>
    session === undefined || tenantOf(as) === '' ? [] : [[tenantOf(as), session] as const],
  );
  const owners = new Map<string, string>();
  for (const [tenant, session] of [...alike, ...given]) {
    const own = JSON.stringify([tenant, session]);
    let conversation: string;
    try {
      conversation = (await (await other.world.tenant(tenant)).start({ id: session })).conversation;
    } catch {
      continue;
    }
    const before = owners.get(conversation);
    if (before !== undefined && before !== own) return `${before} and ${own} share a stream`;
    owners.set(conversation, own);
  }
  const streams = new Set((await other.world.snapshot()).map(({ stream }) => stream));
  const conversations = [...streams].flatMap((stream) => {
    const name = parseStream(stream);
    return name?.kind === 'conversation' ? [name.conversation] : [];
  });
  const missing = [...owners.keys()].find((uid) => !conversations.some((one) => one === uid));
  return missing === undefined
    ? undefined
    : `${String(owners.get(missing))} has no stream of its own`;
};
