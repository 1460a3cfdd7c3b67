import { contextData, contextText, type ShownContext } from '../context-view.js';
import { refuseArgument } from '../faults.js';
import type { Invocation, Register } from '../invocation.js';
import { profileFor } from '../profiles.js';
import { requestInput } from '../request-input.js';
import type { Result } from '../result.js';
import { branchFor, callIdIn, locateCall, readTarget } from '../targets.js';
import { safeJson } from '../terminal-text.js';

interface Found {
  readonly shown: ShownContext;
  readonly data: Readonly<Record<string, unknown>>;
  readonly lines: readonly string[];
}

const preview = async (call: Invocation, ref: string): Promise<Found> => {
  const target = await readTarget(call, await call.reader(), ref);
  const { branch, point, names } = target;
  const profile = await profileFor(call, branch);
  const plan = await branch.preview({ profile, ...(await requestInput(call)) }, point);
  const surface = await branch.surface(point);
  const model = profile.model === undefined ? {} : { model: profile.model };
  return {
    shown: { plan, ...model, target: { branch, names }, surface },
    data: { kind: 'preview' },
    lines: [],
  };
};

const recorded = async (call: Invocation, id: string): Promise<Found> => {
  const stemma = await call.reader();
  const located = await locateCall(call, stemma, id);
  const branch = await branchFor(call, stemma, located);
  const { plan, requested, same, goneSince, place } = await branch.context(located.id);
  const surface = await branch.surface({ revision: requested.branchRevision });
  const branches = await stemma.branches(branch.conversation);
  const names = new Map(branches.map((entry) => [entry.branch, entry.name]));
  const model = requested.model === undefined ? {} : { model: requested.model };
  const { text } = call.look.words;
  return {
    shown: { plan, ...model, target: { branch, names }, surface },
    data: {
      kind: 'recorded',
      modelCallId: located.id,
      place,
      recordedDigest: requested.requestDigest,
      same,
      goneSince,
    },
    lines: [same ? text.rebuiltSame : text.rebuiltOther(goneSince.length)],
  };
};

const payloadResult = (found: Found, call: Invocation, data: Result['data']): Result => {
  const { plan } = found.shown;
  const isRaw = call.options.flag('raw');
  return {
    name: 'context',
    data,
    text: () => safeJson(plan.body, 2),
    ...(isRaw ? { exact: plan.text } : {}),
  };
};

const context = async (call: Invocation): Promise<Result> => {
  const { options, args, io, look } = call;
  const ref = args[0] ?? '';
  const [isPayload, isRaw] = [options.flag('payload'), options.flag('raw')];
  if (isRaw && !isPayload) refuseArgument('raw', 'missing');
  // Content as it is could steer a terminal (S03).
  if (isRaw && io.stdout.isTTY) refuseArgument('raw', 'excludes_another');
  const found = ref.startsWith('c:')
    ? await recorded(call, callIdIn(ref))
    : await preview(call, ref);
  const data = { ...found.data, ...contextData(found.shown) };
  if (isPayload) return payloadResult(found, call, data);
  return {
    name: 'context',
    data,
    text: () => [contextText(found.shown, options.flag('why'), look), ...found.lines].join('\n'),
  };
};

export const contextCommand: Register = ({ program, add }) => {
  add(program, {
    use: 'context <ref>',
    key: 'context',
    options: [
      '--profile <name>',
      '--model <model>',
      '--budget <tokens>',
      '--tools <file>',
      '--params <file>',
      '--branch <name>',
      '--in <ref>',
      '--why',
      '--payload',
      '--raw',
    ],
    run: context,
  });
};
