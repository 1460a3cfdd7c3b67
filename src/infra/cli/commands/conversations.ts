import { labels } from '../arguments.js';
import { pageOf } from '../filters.js';
import { fileText } from '../input-text.js';
import type { Invocation, Register } from '../invocation.js';
import type { Result } from '../result.js';
import { idOf, listing, pairs, when } from '../show.js';
import { conversationWithId } from '../targets.js';

const ls = async (call: Invocation): Promise<Result> => {
  const { look, options } = call;
  const stemma = await call.reader();
  const page = pageOf(await stemma.conversations(), options);
  const { text, number } = look.words;
  const columns = [
    { header: text.conversation, max: 64 },
    { header: text.title, max: 40 },
    { header: text.branches, align: 'right' as const },
    { header: text.started },
    { header: text.labels },
    { header: text.state },
  ];
  const cells = page.rows.map((row) => [
    row.id ?? row.conversation,
    row.title ?? '',
    number(row.branches),
    when(row.startedAt),
    row.labels.map(({ name, value }) => `${name}=${value}`).join(' '),
    row.closed ? text.closed : text.open,
  ]);
  return {
    name: 'conversations',
    data: { conversations: page.rows, next: page.next ?? null },
    rows: 'conversations',
    text: () => listing(look, columns, cells),
  };
};

const create = async (call: Invocation): Promise<Result> => {
  const { look, options } = call;
  const [id, title] = [options.text('id'), options.text('title')];
  const named = labels('label', options.list('label'));
  const file = options.text('instructions');
  const instructions = file === undefined ? undefined : fileText(call, file);
  const as = options.actor('as');
  const stemma = await call.writer();
  const isKnown = id !== undefined && (await conversationWithId(stemma, id)) !== undefined;
  const branch = await stemma.start({
    ...(id === undefined ? {} : { id }),
    ...(title === undefined ? {} : { title }),
    ...(named === undefined ? {} : { labels: named }),
    ...(instructions === undefined ? {} : { instructions }),
    ...(as === undefined ? {} : { as }),
  });
  const { text } = look.words;
  const name = id ?? branch.conversation;
  return {
    name: 'new',
    data: {
      conversation: branch.conversation,
      id: id ?? null,
      branch: branch.branch,
      created: !isKnown,
    },
    text: () =>
      pairs([
        [isKnown ? text.exists : text.created, name],
        [text.next, `stemma append ${idOf(name)} --text …`],
      ]),
  };
};

export const conversationCommands: Register = ({ program, add }) => {
  add(program, {
    use: 'conversations',
    key: 'conversations',
    aliases: ['ls'],
    options: ['--limit <n>', '--after <n>', '--reverse'],
    run: ls,
  });
  add(program, {
    use: 'new',
    key: 'new',
    options: ['--id <id>', '--title <title>', '--instructions <file>', '--as <actor>'],
    lists: ['--label <name=value>'],
    run: create,
  });
};
