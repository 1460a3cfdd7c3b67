import { encodeView } from '../../../projections/encode-view.js';
import { digestOf } from '../../../domain/digest.js';
import { StemmaError } from '../../../face/stemma-error.js';
import type { Branch } from '../../../face/branch-face.js';
import type { ModelCall } from '../../../projections/calls.js';
import type { Invocation, Register } from '../invocation.js';
import type { Look, Result } from '../result.js';
import { idOf, listing, shortDigest, sideBySide } from '../show.js';
import { readTarget } from '../targets.js';

const DIFFERENT = 10;

/** A recorded call, built again. */
interface Rebuilt {
  readonly modelCallId: string;
  readonly result: 'same' | 'different' | 'refused' | 'observed';
  readonly recordedDigest: string;
  readonly digest?: string;
  /** Messages that were redacted or erased since. */
  readonly goneSince: readonly string[];
  /** Tag of the fault for which it could not be built. */
  readonly fault?: string;
}

const rebuild = async (branch: Branch, call: ModelCall): Promise<Rebuilt> => {
  const { modelCallId, requestDigest: recordedDigest } = call;
  const base = { modelCallId, recordedDigest, goneSince: [] };
  // What a foreign system sent is known by its digest at most: there is nothing to build.
  if (call.source === 'observed') return { ...base, result: 'observed' };
  try {
    const { plan, same, goneSince } = await branch.context(modelCallId);
    const result = same ? 'same' : 'different';
    return { ...base, result, digest: plan.requestDigest, goneSince };
  } catch (error) {
    if (error instanceof StemmaError) return { ...base, result: 'refused', fault: error.code };
    throw error;
  }
};

const reasonOf = ({ goneSince, fault }: Rebuilt, look: Look): string => {
  if (fault !== undefined) return fault;
  return goneSince.length === 0
    ? ''
    : `${look.words.text.hiddenSince} ${goneSince.map(idOf).join(' ')}`;
};

const replayText = (
  calls: readonly Rebuilt[],
  events: number,
  historyDigest: string,
  look: Look,
): string => {
  const { text, number } = look.words;
  const bad = calls.filter(({ result }) => result === 'different' || result === 'refused');
  const columns = [
    { header: text.call, max: 40 },
    { header: text.payloadDigest },
    { header: text.result },
    { header: text.why, max: 100 },
  ];
  const cells = calls.map((one) => [
    one.modelCallId,
    shortDigest(one.recordedDigest),
    text.replayResult(one.result),
    reasonOf(one, look),
  ]);
  return [
    text.replayed(number(events), number(calls.length)),
    sideBySide(text.historyDigest, shortDigest(historyDigest)),
    ...(calls.length === 0 ? [] : [listing(look, columns, cells)]),
    bad.length === 0
      ? look.paint.good(text.allReproduced)
      : look.paint.bad(text.notReproduced(number(bad.length), number(calls.length))),
  ].join('\n');
};

const replay = async (call: Invocation): Promise<Result> => {
  const { options, look, args } = call;
  const { branch, point } = await readTarget(call, await call.reader(), args[0] ?? '');
  const events = (await branch.timeline(point)).items.length;
  const historyDigest = digestOf(encodeView(await branch.history(point)));
  const calls: Rebuilt[] = [];
  for (const one of (await branch.calls(point)).calls) calls.push(await rebuild(branch, one));
  const isSame = calls.every(({ result }) => result === 'same' || result === 'observed');
  return {
    name: 'replay',
    data: {
      conversation: branch.conversation,
      branch: branch.branch,
      branchName: branch.name,
      events,
      historyDigest,
      ok: isSame,
      calls,
    },
    rows: 'calls',
    text: () => replayText(calls, events, historyDigest, look),
    ...(options.flag('check') && !isSame ? { exit: DIFFERENT } : {}),
  };
};

export const replayCommand: Register = ({ program, add }) => {
  add(program, {
    use: 'replay <ref>',
    key: 'replay',
    options: ['--check', '--branch <name>'],
    run: replay,
  });
};
