import type { Timeline, TimelineItem } from '../../../projections/timeline.js';
import { matchesActor, matchesType, pageOf, type Page } from '../filters.js';
import { refuseArgument } from '../faults.js';
import { rowsOf, type HistoryRow } from '../history-rows.js';
import type { Invocation, Register } from '../invocation.js';
import type { Look, Result } from '../result.js';
import { idOf, listing, placeName, shortDigest, sideBySide, whatOf, when } from '../show.js';
import { nameOf, readTarget, type Target } from '../targets.js';
import type { Column } from '../table.js';

const roles = ['system', 'developer', 'user', 'assistant', 'tool', 'summary'] as const;

/** What both views begin with. */
interface Heading {
  readonly data: Readonly<Record<string, unknown>>;
  readonly line: string;
}

const headingOf = async (target: Target, look: Look): Promise<Heading> => {
  const { branch, stemma, point } = target;
  const { id, title } = await nameOf(stemma, branch.conversation);
  const { items } = await branch.timeline(point);
  const last = items.at(-1);
  const turns = items.filter(({ type }) => type === 'TurnStarted').length;
  const revision = last?.place.branch === branch.branch ? last.place.revision : -1;
  const { text, number } = look.words;
  return {
    data: {
      conversation: branch.conversation,
      id,
      title,
      branch: branch.branch,
      branchName: branch.name,
      revision,
      turns,
      ...(last === undefined ? {} : { head: last.place }),
      ...(point.revision === undefined ? {} : { atRevision: point.revision }),
      ...(point.time === undefined ? {} : { atTime: point.time }),
    },
    line: sideBySide(
      look.paint.strong(idOf(id)),
      idOf(title),
      `${text.branch} ${idOf(branch.name)}@${String(revision)}`,
      text.turns(number(turns)),
      last === undefined ? '' : `sha256 ${shortDigest(last.place.hash)}…`,
    ),
  };
};

const messageColumns = ({ words: { text } }: Look): readonly Column[] => [
  { header: text.rev, align: 'right', max: 24 },
  { header: text.whenUtc },
  { header: text.role },
  { header: text.tokens, align: 'right' },
  { header: text.id, max: 28 },
  { header: text.what },
];

const sayingOf = (row: HistoryRow, look: Look): string => {
  const { text, number } = look.words;
  const marks = [
    row.out === undefined ? '' : `[${look.words.reason(row.out.reason)}]`,
    row.kind === 'instructions' ? text.instructionsVersion(row.name ?? '', row.version ?? 0) : '',
    row.kind === 'summary'
      ? text.summaryOf(number(row.covers?.length ?? 0), row.strategy ?? '', row.state ?? '')
      : '',
    row.kind === 'tool_result' ? text.resultOf(row.answers.join(' '), row.outcome ?? '') : '',
  ];
  return [...marks, whatOf(row, look)].filter((part) => part !== '').join(' ');
};

const cellsOf = (row: HistoryRow, target: Target, look: Look): readonly string[] => [
  placeName(row.place, target.branch.branch, target.names),
  when(row.at),
  row.kind === 'summary' ? look.words.text.summary : row.role,
  look.words.number(row.tokens),
  row.id,
  sayingOf(row, look),
];

/** Rows in a row that one compaction covers, as one line. */
const folded = (
  rows: readonly HistoryRow[],
  target: Target,
  look: Look,
): readonly (readonly string[])[] => {
  const summaries = new Map(rows.map((row) => [row.id, row]));
  const cells: (readonly string[])[] = [];
  for (let at = 0; at < rows.length; at += 1) {
    const row = rows[at];
    if (row === undefined) break;
    const { coveredBy } = row;
    if (coveredBy === undefined) {
      cells.push(cellsOf(row, target, look));
      continue;
    }
    let count = 1;
    while (rows[at + count]?.coveredBy === coveredBy) count += 1;
    at += count - 1;
    const by = summaries.get(coveredBy);
    const { text, number } = look.words;
    const numbers = by && text.saved(number(by.tokensBefore ?? 0), number(by.tokensAfter ?? 0));
    cells.push(['…', '', '', '', '', text.covered(number(count), coveredBy, numbers ?? '')]);
  }
  return cells;
};

const closing = (page: Page<unknown>, look: Look): string =>
  page.next === undefined ? '' : `\n${look.words.text.more(String(page.next))}`;

const messageView = async (call: Invocation, target: Target): Promise<Result> => {
  const { options, look, nowMs } = call;
  if (options.text('type') !== undefined) refuseArgument('type', 'excludes_another');
  const role = options.choice('role', roles);
  const by = options.text('actor');
  const since = options.time('since', nowMs);
  const rows = await rowsOf(target);
  const heading = await headingOf(target, look);
  const found = rows.filter(
    (row) =>
      (role === undefined || row.role === role) &&
      (by === undefined || matchesActor(row.actor, by)) &&
      (since === undefined || row.at >= since),
  );
  const page = pageOf(found, options);
  const isWhole = role === undefined && by === undefined && !options.flag('reverse');
  const text = (): string => {
    const shown =
      isWhole && !options.flag('all')
        ? folded(page.rows, target, look)
        : page.rows.map((row) => cellsOf(row, target, look));
    const body = listing(look, messageColumns(look), shown);
    return `${heading.line}\n${body}${closing(page, look)}`;
  };
  const data = { ...heading.data, view: 'turns', rows: page.rows, next: page.next ?? null };
  return { name: 'history', data, rows: 'rows', text };
};

interface EventRow extends TimelineItem {
  readonly stream: 'branch' | 'directory';
}

const eventRows = (view: Timeline): readonly EventRow[] => [
  ...view.directory.map((item) => ({ ...item, stream: 'directory' as const })),
  ...view.items.map((item) => ({ ...item, stream: 'branch' as const })),
];

const eventColumns = ({ words: { text } }: Look): readonly Column[] => [
  { header: text.rev, align: 'right', max: 24 },
  { header: text.whenUtc },
  { header: text.event },
  { header: text.actor, max: 24 },
  { header: text.about },
];

const aboutOf = ({ subjects, facts, wall, unknown }: EventRow, look: Look): string =>
  [
    ...subjects.map(({ kind, id }) => `${kind} ${id}`),
    ...Object.entries(facts).map(([name, value]) => `${name}=${String(value)}`),
    wall === undefined ? '' : look.words.text.clockRegressed,
    unknown === undefined ? '' : look.words.text.unknownEvent,
  ]
    .filter((part) => part !== '')
    .join(' · ');

const eventCells = (row: EventRow, target: Target, look: Look): readonly string[] => [
  row.stream === 'directory'
    ? `${look.words.text.directory}@${String(row.place.revision)}`
    : placeName(row.place, target.branch.branch, target.names),
  when(row.at),
  row.type,
  row.actor,
  aboutOf(row, look),
];

const eventView = async (call: Invocation, target: Target): Promise<Result> => {
  const { options, look, nowMs } = call;
  if (options.text('role') !== undefined) refuseArgument('role', 'excludes_another');
  const [type, by] = [options.text('type'), options.text('actor')];
  const since = options.time('since', nowMs);
  const view = await target.branch.timeline(target.point);
  const heading = await headingOf(target, look);
  const found = eventRows(view).filter(
    (row) =>
      (type === undefined || matchesType(row.type, type)) &&
      (by === undefined || matchesActor(row.actor, by)) &&
      (since === undefined || row.at >= since),
  );
  const page = pageOf(found, options);
  const text = (): string => {
    const cells = page.rows.map((row) => eventCells(row, target, look));
    return `${heading.line}\n${listing(look, eventColumns(look), cells)}${closing(page, look)}`;
  };
  const data = { ...heading.data, view: 'events', rows: page.rows, next: page.next ?? null };
  return { name: 'history', data, rows: 'rows', text };
};

const history = async (call: Invocation): Promise<Result> => {
  const { options, args } = call;
  const isTyped = options.text('type') !== undefined && !options.flag('turns');
  const isEvents = options.flag('events') || isTyped;
  if (isEvents && options.flag('turns')) refuseArgument('turns', 'excludes_another');
  const stemma = await call.reader();
  const target = await readTarget(call, stemma, args[0] ?? '');
  return isEvents ? eventView(call, target) : messageView(call, target);
};

export const historyCommand: Register = ({ program, add }) => {
  add(program, {
    use: 'history <ref>',
    key: 'history',
    options: [
      '--turns',
      '--events',
      '--all',
      '--type <type>',
      '--role <role>',
      '--actor <actor>',
      '--branch <name>',
      '--since <time>',
      '--limit <n>',
      '--after <n>',
      '--reverse',
    ],
    run: history,
  });
};
