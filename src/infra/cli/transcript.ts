import type { HistoryRow } from './history-rows.js';
import type { Look } from './result.js';
import { when } from './show.js';
import { safeText } from './terminal-text.js';

/** What a transcript is of. */
export interface TranscriptOf {
  readonly id: string;
  readonly title: string;
  readonly branchName: string;
  readonly revision: number;
}

interface Section {
  readonly heading: string;
  readonly parts: readonly string[];
}

const sectionOf = (row: HistoryRow, look: Look): Section => {
  const { words } = look;
  const { text } = words;
  const role = row.kind === 'summary' ? text.summary : row.role;
  const marks = [
    row.out === undefined ? '' : words.reason(row.out.reason),
    row.coveredBy === undefined ? '' : text.coveredBy(row.coveredBy),
    row.outcome === undefined || row.outcome === 'ok' ? '' : row.outcome,
  ].filter((mark) => mark !== '');
  const media = row.blocks.flatMap((block) =>
    block.type === 'image' || block.type === 'audio' || block.type === 'file'
      ? [`[${block.type} ${block.mediaType}]`]
      : [],
  );
  const calls = row.toolCalls.map((call) => text.callsTool(call.name, call.arguments, call.id));
  const place = `${row.branchName}@${String(row.place.revision)}`;
  return {
    heading: [role, when(row.at), place, row.id, ...marks].join(' · '),
    parts: [row.text, ...media, ...calls].filter((part) => part !== ''),
  };
};

/** Signs that mean something to Markdown, each made a sign of text. */
const escaped = (text: string): string =>
  safeText(text)
    .replace(/[\n\t ]+/g, ' ')
    .replace(
      /[\\`*_{}[\]<>()#+\-.!|~&=:@$^"']/g,
      (sign) => `&#${String(sign.codePointAt(0) ?? 0)};`,
    );

const longestRun = (text: string): number =>
  [...text.matchAll(/`+/g)].reduce((longest, [run]) => Math.max(longest, run.length), 0);

/** Content stands in a fence longer than any in it: nothing of it is formatting, a link or a picture. */
const fenced = (text: string): string => {
  const safe = safeText(text);
  const fence = '`'.repeat(Math.max(3, longestRun(safe) + 1));
  return `${fence}text\n${safe}\n${fence}`;
};

/** A branch as Markdown (S04). */
export function* markdown(
  of: TranscriptOf,
  rows: readonly HistoryRow[],
  look: Look,
): Generator<string, void> {
  yield `# ${escaped(of.title === '' ? of.id : of.title)}\n\n`;
  yield `${escaped(`${of.id} ${of.branchName}@${String(of.revision)}`)}\n`;
  for (const row of rows) {
    const { heading, parts } = sectionOf(row, look);
    yield `\n## ${escaped(heading)}\n`;
    for (const part of parts) yield `\n${fenced(part)}\n`;
  }
}

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

const html = (text: string): string =>
  safeText(text).replace(/[&<>"']/g, (sign) => entities[sign] ?? '');

const STYLE =
  'body{font-family:system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem}' +
  'pre{white-space:pre-wrap;overflow-wrap:anywhere;border-inline-start:3px solid #999;' +
  'padding-inline-start:1rem;unicode-bidi:plaintext;text-align:start}h2{font-size:1rem}';

const POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'";

/** A branch as one HTML file of text alone: no script, no link, nothing from elsewhere (S04). */
export function* htmlPage(
  of: TranscriptOf,
  rows: readonly HistoryRow[],
  look: Look,
): Generator<string, void> {
  const name = html(of.title === '' ? of.id : of.title);
  yield `<!doctype html>\n<html lang="${look.words.language}">\n<head>\n<meta charset="utf-8">\n`;
  yield `<meta http-equiv="Content-Security-Policy" content="${POLICY}">\n`;
  yield `<meta name="referrer" content="no-referrer">\n<title>${name}</title>\n`;
  yield `<style>${STYLE}</style>\n</head>\n<body>\n<h1><bdi>${name}</bdi></h1>\n`;
  yield `<p><bdi>${html(`${of.id} ${of.branchName}@${String(of.revision)}`)}</bdi></p>\n`;
  for (const row of rows) {
    const { heading, parts } = sectionOf(row, look);
    yield `<article>\n<h2><bdi>${html(heading)}</bdi></h2>\n`;
    for (const part of parts) yield `<pre dir="auto">${html(part)}</pre>\n`;
    yield '</article>\n';
  }
  yield '</body>\n</html>\n';
}
