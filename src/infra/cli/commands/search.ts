import type { Invocation, Register } from '../invocation.js';
import type { Result } from '../result.js';
import { listing } from '../show.js';

const DEFAULT_LIMIT = 50;
const MOST = 1_000;
const AROUND = 30;

/** The part of a text in which it was found. */
const excerpt = (text: string, wanted: string): string => {
  const at = text.toLowerCase().indexOf(wanted.toLowerCase());
  if (at <= AROUND) return text;
  const start = at - AROUND;
  // Not in the middle of a character.
  const isLow = /^[\udc00-\udfff]/.test(text.slice(start, start + 1));
  return `…${text.slice(isLow ? start - 1 : start)}`;
};

const search = async (call: Invocation): Promise<Result> => {
  const { options, look, args } = call;
  const limit = Math.min(options.whole('limit', { least: 1 }) ?? DEFAULT_LIMIT, MOST);
  const wanted = args[0] ?? '';
  const stemma = await call.reader();
  const { hits, position } = await stemma.search(wanted, { limit });
  const ids = new Map(
    (await stemma.conversations()).map(({ conversation, id }) => [
      conversation,
      id ?? conversation,
    ]),
  );
  const { text } = look.words;
  const columns = [
    { header: text.conversation, max: 64 },
    { header: text.rev, align: 'right' as const },
    { header: text.id, max: 32 },
    { header: text.what, max: 100 },
  ];
  const cells = hits.map((hit) => [
    ids.get(hit.conversation) ?? hit.conversation,
    String(hit.revision),
    hit.messageId ?? '',
    excerpt(hit.text, wanted),
  ]);
  return {
    name: 'search',
    data: {
      text: wanted,
      hits: hits.map((hit) => ({ ...hit, conversationId: ids.get(hit.conversation) ?? null })),
      position,
    },
    rows: 'hits',
    text: () => listing(look, columns, cells),
  };
};

export const searchCommand: Register = ({ program, add }) => {
  add(program, { use: 'search <text>', key: 'search', options: ['--limit <n>'], run: search });
};
