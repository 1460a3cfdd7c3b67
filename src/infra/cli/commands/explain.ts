import type { RuleFault } from '../../../engine/checks.js';
import { describeFault } from '../../../domain/error-table.js';
import type { Invocation, Register } from '../invocation.js';
import { profileFor } from '../profiles.js';
import { requestInput } from '../request-input.js';
import type { Look, Result } from '../result.js';
import { idOf, listing, pairs, sideBySide, when } from '../show.js';
import { branchFor, idAmong, locateCall, locateOne, messageIdIn, readTarget } from '../targets.js';
import { oneLine } from '../terminal-text.js';
import { wordsIn } from '../words/words.js';

const why = async (call: Invocation): Promise<Result> => {
  const { options, look, args } = call;
  const stemma = await call.reader();
  const located = await locateCall(call, stemma, options.needed('call'));
  const branch = await branchFor(call, stemma, located);
  const { plan } = await branch.context(located.id);
  const wanted = messageIdIn(args[0] ?? '');
  const known = plan.dispositions.map(({ messageId }) => messageId);
  const isNamed = known.some((id) => id.startsWith(wanted));
  const messageId = isNamed ? idAmong('message', known, wanted) : wanted;
  const found = await branch.why(messageId, { modelCallId: located.id });
  const { text, number } = look.words;
  const reason = look.words.reason(found.disposition);
  const at = (ref: { readonly branch: string; readonly revision: number } | undefined): string =>
    ref === undefined ? '' : `${ref.branch}@${String(ref.revision)}`;
  return {
    name: 'why',
    data: { ...found, reason: wordsIn('en').reason(found.disposition) },
    text: () =>
      [
        sideBySide(
          found.in ? text.isIn : text.isOut,
          idOf(messageId),
          reason,
          oneLine(found.note ?? '', 200),
        ),
        pairs([
          [text.call, located.id],
          [text.disposition, found.disposition],
          [text.tokens, number(found.tokens)],
          [text.unit, found.unit ?? ''],
          [text.place, at(found.place)],
          [text.cause, at(found.cause)],
        ]),
      ].join('\n'),
  };
};

const faultCells = ({ rule, code, reason = '', messageIds, callIds, path = '' }: RuleFault) => [
  rule,
  reason === '' ? code : `${code} (${reason})`,
  messageIds.join(' '),
  callIds.join(' '),
  path,
];

const check = async (call: Invocation): Promise<Result> => {
  const { look, args } = call;
  const { branch, point } = await readTarget(call, await call.reader(), args[0] ?? '');
  const profile = await profileFor(call, branch);
  const report = await branch.check({ profile, ...(await requestInput(call)) }, point);
  const { text, number } = look.words;
  const { faults, repairs, refusal } = report;
  const isSound = faults.length === 0 && refusal === undefined;
  const body = (): string => {
    const columns = [
      { header: text.rule },
      { header: text.fault },
      { header: text.messages, max: 60 },
      { header: text.callIds, max: 40 },
      { header: text.path },
    ];
    return [
      sideBySide(
        `${text.profile} ${report.profile.id} v${String(report.profile.version)}`,
        text.checked(number(report.messages)),
        isSound ? look.paint.good(text.sound) : look.paint.bad(text.faults(number(faults.length))),
      ),
      ...(faults.length === 0 ? [] : [listing(look, columns, faults.map(faultCells))]),
      ...repairs.map(({ code, id = '', ids = [], action = '' }) =>
        sideBySide(text.wouldRepair, code, idOf(id === '' ? ids.join(' ') : id), idOf(action)),
      ),
      ...report.warnings.map(({ code, id = '' }) => sideBySide(text.warning, code, idOf(id))),
      ...(refusal === undefined
        ? []
        : [sideBySide(text.refused, refusal._tag, oneLine(describeFault(refusal).message, 400))]),
    ].join('\n');
  };
  return {
    name: 'check',
    data: { conversation: branch.conversation, branchName: branch.name, ok: isSound, ...report },
    text: body,
    ...(isSound ? {} : { exit: 5 }),
  };
};

const exposure = async (call: Invocation): Promise<Result> => {
  const { look, args } = call;
  const stemma = await call.reader();
  const located = await locateOne(call, stemma, 'message', messageIdIn(args[0] ?? ''));
  const calls = await stemma.exposure(located.conversation, located.id, located);
  const { text } = look.words;
  const columns = [
    { header: text.call, max: 40 },
    { header: text.branch },
    { header: text.whenUtc },
    { header: text.profile },
    { header: text.model },
    { header: text.sentAs },
    { header: text.sure },
  ];
  const cells = calls.map((one) => [
    one.modelCallId,
    `${one.branchName}@${String(one.requested.revision)}`,
    when(one.at),
    one.profile,
    one.model ?? '',
    text.sentHow(one.how),
    one.certain ? text.yes : text.no,
  ]);
  const heading = (look_: Look): string =>
    `${idOf(located.id)}   ${text.sentBy(look_.words.number(calls.length))}`;
  return {
    name: 'exposure',
    data: { messageId: located.id, conversation: located.conversation, calls },
    rows: 'calls',
    text: () =>
      calls.length === 0 ? heading(look) : `${heading(look)}\n${listing(look, columns, cells)}`,
  };
};

export const explainCommands: Register = ({ program, add }) => {
  add(program, {
    use: 'why <message>',
    key: 'why',
    options: ['--call <call>', '--in <ref>'],
    run: why,
  });
  add(program, {
    use: 'check <ref>',
    key: 'check',
    options: ['--profile <name>', '--model <model>', '--branch <name>', '--budget <tokens>'],
    run: check,
  });
  add(program, {
    use: 'exposure <message>',
    key: 'exposure',
    options: ['--in <ref>'],
    run: exposure,
  });
};
