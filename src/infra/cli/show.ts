import { textOf, type Block, type Message } from '../../domain/message.js';
import type { EventRef } from '../../domain/events/references.js';
import { table, type Column } from './table.js';
import { oneLine, padTo, widthOf } from './terminal-text.js';
import type { Look } from './result.js';

/** Columns that a preview of content takes where no terminal says otherwise. */
const PREVIEW = 100;
const ID = 64;

/** A recorded time for people: UTC, to the second. */
export const when = (at: string): string => `${at.slice(0, 10)} ${at.slice(11, 19)}`;

/** Enough of a digest to tell two apart at a glance. */
export const shortDigest = (digest: string): string => digest.slice(0, 16);

export const idOf = (id: string): string => oneLine(id, ID);

/** `name@revision`, or the revision alone on the branch itself. */
export const placeName = (
  { branch, revision }: Pick<EventRef, 'branch' | 'revision'>,
  own: string,
  names: ReadonlyMap<string, string>,
): string =>
  branch === own ? String(revision) : `${names.get(branch) ?? branch}@${String(revision)}`;

/** Parts of one line, with room between them; empty ones are left out. */
export const sideBySide = (...parts: readonly string[]): string =>
  parts.filter((part) => part !== '').join('   ');

/** Lines of `name  value`, the names as wide as the widest. */
export const pairs = (rows: readonly (readonly [name: string, value: string])[]): string => {
  const width = rows.reduce((widest, [name]) => Math.max(widest, widthOf(oneLine(name, 40))), 0);
  return rows
    .filter(([, value]) => value !== '')
    .map(([name, value]) => `${padTo(name, width)}  ${oneLine(value, 400)}`)
    .join('\n');
};

/** A table with its header set apart; the words for an empty one where there are no rows. */
export const listing = (
  look: Look,
  columns: readonly Column[],
  rows: readonly (readonly string[])[],
): string => {
  if (rows.length === 0) return look.words.text.nothing;
  const bounded = columns.map((column) => ({ max: PREVIEW, ...column }));
  const limits = Number.isFinite(look.width) ? { width: look.width } : {};
  const [head = '', ...body] = table(bounded, rows, limits).split('\n');
  return [look.paint.faint(head), ...body].join('\n');
};

const blockName = (block: Block): string => {
  switch (block.type) {
    case 'text':
    case 'refusal':
      return block.text;
    case 'reasoning':
      return '[reasoning]';
    case 'provider':
      return `[${block.provider}]`;
    case 'tool_call':
      return '';
    case 'image':
    case 'audio':
    case 'file':
      return `[${block.type} ${block.mediaType}]`;
  }
};

/** What a message says, in one text: calls and media by name. */
export const whatOf = (message: Pick<Message, 'blocks' | 'toolCalls'>, look: Look): string => {
  const { words } = look;
  const said = message.blocks.map(blockName).filter((text) => text !== '');
  const called = message.toolCalls.map(({ id, name, arguments: args }) =>
    words.text.callsTool(name, args, id),
  );
  return [...said, ...called].join(' ');
};

/** The readable text of a message; its blocks stand beside it in JSON. */
export const plainText = ({ blocks }: Pick<Message, 'blocks'>): string => textOf(blocks);
