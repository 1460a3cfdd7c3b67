import { digestOf } from '../../../domain/digest.js';
import { audit } from '../../../projections/audit.js';
import { modelCalls } from '../../../projections/calls.js';
import { catalog } from '../../../projections/catalog.js';
import { encodeView } from '../../../projections/encode-view.js';
import { exposure } from '../../../projections/exposure.js';
import { history } from '../../../projections/history.js';
import { lineage } from '../../../projections/lineage.js';
import { timeline } from '../../../projections/timeline.js';
import { toolExchanges } from '../../../projections/tool-exchanges.js';
import { usage } from '../../../projections/usage.js';
import type { Branch } from '../../../face/branch-face.js';
import type { Stemma } from '../../../face/stemma-face.js';
import type { Invocation, Register } from '../invocation.js';
import type { Result } from '../result.js';
import { listing, shortDigest, sideBySide } from '../show.js';

/** What is folded from each branch, and from each conversation. */
const known = [
  ...[history, timeline, modelCalls, toolExchanges, usage, exposure].map(({ name, version }) => ({
    name,
    version,
    of: 'branch' as const,
  })),
  ...[lineage, audit, catalog].map(({ name, version }) => ({
    name,
    version,
    of: 'conversation' as const,
  })),
];

const status = async (call: Invocation): Promise<Result> => {
  const { look } = call;
  const conversations = await (await call.reader()).conversations();
  const branches = conversations.reduce((sum, row) => sum + row.branches, 0);
  const { text, number } = look.words;
  const columns = [
    { header: text.projection },
    { header: text.version, align: 'right' as const },
    { header: text.foldedFrom },
  ];
  const cells = known.map(({ name, version, of }) => [name, String(version), text.foldedOf(of)]);
  return {
    name: 'projections',
    data: { projections: known, conversations: conversations.length, branches },
    rows: 'projections',
    text: () =>
      [
        listing(look, columns, cells),
        text.projectionsNote(number(conversations.length), number(branches)),
      ].join('\n'),
  };
};

interface Rebuilt {
  readonly conversation: string;
  readonly branch?: string;
  readonly branchName?: string;
  readonly projection: string;
  readonly digest: string;
}

const viewsOf = async (branch: Branch): Promise<readonly (readonly [string, unknown])[]> => [
  [history.name, await branch.history()],
  [timeline.name, await branch.timeline()],
  [modelCalls.name, await branch.calls()],
  [toolExchanges.name, await branch.toolExchanges()],
  [usage.name, await branch.usage()],
];

const rebuilt = async (stemma: Stemma, conversation: string): Promise<readonly Rebuilt[]> => {
  const rows: Rebuilt[] = [];
  for (const entry of await stemma.branches(conversation)) {
    const branch = await stemma.open(`${conversation}/${entry.branch}`);
    for (const [projection, view] of await viewsOf(branch)) {
      const digest = digestOf(encodeView(view));
      rows.push({
        conversation,
        branch: entry.branch,
        branchName: entry.name,
        projection,
        digest,
      });
    }
  }
  const whole = [
    [lineage.name, await stemma.lineage(conversation)],
    [audit.name, await stemma.audit(conversation)],
  ] as const;
  for (const [projection, view] of whole) {
    rows.push({ conversation, projection, digest: digestOf(encodeView(view)) });
  }
  return rows;
};

const rebuild = async (call: Invocation): Promise<Result> => {
  const { look, args } = call;
  const stemma = await call.reader();
  const name = args[0] ?? '';
  const wanted =
    name === ''
      ? (await stemma.conversations()).map(({ conversation }) => conversation)
      : [(await stemma.resolve(name)).conversation];
  const rows: Rebuilt[] = [];
  for (const [index, conversation] of wanted.entries()) {
    if (wanted.length > 1) call.progress(`${String(index + 1)}/${String(wanted.length)}`);
    rows.push(...(await rebuilt(stemma, conversation)));
  }
  const digest = digestOf(JSON.stringify(rows.map((row) => row.digest)));
  const { text, number } = look.words;
  const columns = [
    { header: text.conversation },
    { header: text.branch },
    { header: text.projection },
    { header: 'sha256' },
  ];
  const cells = rows.map((row) => [
    row.conversation,
    row.branchName ?? '',
    row.projection,
    shortDigest(row.digest),
  ]);
  return {
    name: 'projections.rebuild',
    data: { conversations: wanted.length, views: rows, digest },
    rows: 'views',
    text: () =>
      [
        listing(look, columns, cells),
        sideBySide(text.rebuiltViews(number(rows.length)), shortDigest(digest)),
      ].join('\n'),
  };
};

export const projectionCommands: Register = ({ program, add }) => {
  const parent = add(program, { use: 'projections', key: 'projections' });
  add(parent, { use: 'status', key: 'projections.status', run: status });
  add(parent, { use: 'rebuild [ref]', key: 'projections.rebuild', run: rebuild });
};
