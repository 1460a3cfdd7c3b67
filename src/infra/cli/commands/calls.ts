import type { ModelCall } from '../../../projections/calls.js';
import type { Slot } from '../../../domain/slot.js';
import { pageOf } from '../filters.js';
import { refuse } from '../faults.js';
import type { Invocation, Register } from '../invocation.js';
import type { Look, Result } from '../result.js';
import { idOf, listing, pairs, placeName, when } from '../show.js';
import { branchFor, locateCall, readTarget } from '../targets.js';

/** A call for JSON: slots are left out, their texts stand in `calls show`. */
const rowOf = (call: ModelCall, names: ReadonlyMap<string, string>) => {
  const { tools: _tools, params: _params, literals, answer, failure, late, ...rest } = call;
  return {
    ...rest,
    branchName: names.get(call.place.branch) ?? call.place.branch,
    literals: literals.map(({ place, reason, trust }) => ({ place, reason, trust })),
    answer: answer === undefined ? null : { ...answer, output: undefined },
    failure:
      failure === undefined ? null : { ...failure, error: { ...failure.error, detail: undefined } },
    late: late.length,
  };
};

const usageText = ({ answer }: ModelCall, look: Look): string => {
  const { input, output } = answer?.usage ?? {};
  const { number, text } = look.words;
  return input === undefined && output === undefined
    ? ''
    : text.reported(number(input ?? 0), number(output ?? 0));
};

const outcomeOf = (call: ModelCall, look: Look): string => {
  const state = look.words.text.callState(call.state);
  const { failure, answer } = call;
  const detail = failure === undefined ? (answer?.finishReason ?? '') : failure.error.kind;
  return detail === '' ? state : `${state} (${detail})`;
};

const ls = async (call: Invocation): Promise<Result> => {
  const { look, args, options } = call;
  const target = await readTarget(call, await call.reader(), args[0] ?? '');
  const { branch, names, point } = target;
  const page = pageOf((await branch.calls(point)).calls, options);
  const { text, number } = look.words;
  const cells = (): readonly (readonly string[])[] =>
    page.rows.map((row) => [
      row.modelCallId,
      placeName(row.place, branch.branch, names),
      when(row.at),
      row.profile.name,
      row.model ?? '',
      number(row.tokens),
      String(row.attempt),
      outcomeOf(row, look),
      usageText(row, look),
    ]);
  const columns = [
    { header: text.call, max: 40 },
    { header: text.rev, align: 'right' as const, max: 24 },
    { header: text.whenUtc },
    { header: text.profile },
    { header: text.model },
    { header: text.tokens, align: 'right' as const },
    { header: text.attempt, align: 'right' as const },
    { header: text.outcome },
    { header: text.usage },
  ];
  return {
    name: 'calls',
    data: {
      conversation: branch.conversation,
      branch: branch.branch,
      branchName: branch.name,
      calls: page.rows.map((row) => rowOf(row, names)),
      next: page.next ?? null,
    },
    rows: 'calls',
    text: () => listing(look, columns, cells()),
  };
};

/** Texts of a call that stand in slots. */
const slotsOf = ({ tools, params, literals, failure, answer }: ModelCall): readonly Slot[] =>
  [
    tools,
    params,
    failure?.error.detail,
    answer?.output,
    ...literals.map((one) => one.content),
  ].filter((slot) => slot !== undefined);

const showPairs = (
  found: ModelCall,
  texts: { readonly detail: string; readonly tools: string; readonly params: string },
  look: Look,
): readonly (readonly [string, string])[] => {
  const { text, number } = look.words;
  const { budget, answer, failure } = found;
  return [
    [text.call, found.modelCallId],
    [text.whenUtc, when(found.at)],
    [text.profile, `${found.profile.name} v${String(found.profile.version)}`],
    [text.model, found.model ?? ''],
    [
      text.attempt,
      `${String(found.attempt)}${found.retryOf === undefined ? '' : ` ← ${found.retryOf}`}`,
    ],
    [text.purpose, found.purpose],
    [
      text.tokens,
      `${number(found.tokens)}${budget === undefined ? '' : ` / ${number(budget)}`} (${found.counter}, ${
        found.exact ? text.exact : text.estimated
      })`,
    ],
    [text.payloadDigest, found.requestDigest],
    [text.outcome, outcomeOf(found, look)],
    [text.message, answer?.message?.id ?? failure?.partial?.id ?? ''],
    [text.usage, usageText(found, look)],
    [text.detail, texts.detail],
    [text.tools, texts.tools],
    [text.params, texts.params],
  ];
};

const show = async (call: Invocation): Promise<Result> => {
  const { look, args } = call;
  const stemma = await call.reader();
  const located = await locateCall(call, stemma, args[0] ?? '');
  const branch = await branchFor(call, stemma, located);
  const { calls } = await branch.calls();
  const found =
    calls.find(({ modelCallId }) => modelCallId === located.id) ??
    refuse({ _tag: 'NotFound', kind: 'call', ref: located.id });
  const open = await branch.contents(slotsOf(found));
  const textIn = (slot: Slot | undefined): string => {
    const opened = slot === undefined ? undefined : open(slot);
    return opened?._tag === 'text' ? opened.text : '';
  };
  const texts = {
    detail: textIn(found.failure?.error.detail),
    tools: textIn(found.tools),
    params: textIn(found.params),
    output: textIn(found.answer?.output),
  };
  const names = new Map([[branch.branch, branch.name]]);
  return {
    name: 'call',
    data: { conversation: branch.conversation, ...rowOf(found, names), texts },
    text: () =>
      `${pairs(showPairs(found, texts, look))}\n\n${look.words.text.seeContext(idOf(found.modelCallId))}`,
  };
};

export const callsCommand: Register = ({ program, add }) => {
  const calls = add(program, { use: 'calls', key: 'calls' });
  add(calls, {
    use: 'ls <ref>',
    key: 'calls.ls',
    options: ['--branch <name>', '--limit <n>', '--after <n>', '--reverse'],
    run: ls,
  });
  add(calls, { use: 'show <call>', key: 'calls.show', options: ['--in <ref>'], run: show });
};
