import * as E from 'fp-ts/lib/Either.js';
import { decodeWith, list, record, text, whole, type Codec } from './codec.js';
import type { StemmaFault } from './errors.js';
import { parseJson } from './json-scan.js';

/** First line of an exchange file (format.md, Exchange lines). */
export interface ExchangeHeader {
  readonly format: string;
  readonly producer: string;
  readonly conversations: readonly string[];
  readonly events: number;
}

/** One event; `meta` and `data` hold the stored text exactly, so that any language can hash them. */
export interface ExchangeEvent {
  readonly stream: string;
  readonly revision: number;
  readonly id: string;
  readonly type: string;
  readonly meta: string;
  readonly data: string;
}

/** A body that later events name; `bytes` is base64. */
export interface ExchangeBlob {
  readonly blob: string;
  readonly bytes: string;
}

export type ExchangeLine =
  | { readonly _tag: 'header'; readonly header: ExchangeHeader }
  | { readonly _tag: 'event'; readonly event: ExchangeEvent }
  | { readonly _tag: 'blob'; readonly blob: ExchangeBlob };

export const EXCHANGE_FORMAT = 'stemma-jsonl/0';

const header = record<ExchangeHeader>('ExchangeHeader', {
  format: text,
  producer: text,
  conversations: list(text),
  events: whole,
});

const event = record<ExchangeEvent>('ExchangeEvent', {
  stream: text,
  revision: whole,
  id: text,
  type: text,
  meta: text,
  data: text,
});

const blob = record<ExchangeBlob>('ExchangeBlob', { blob: text, bytes: text });

const write = <A>(codec: Codec<A>, value: A): string => JSON.stringify(codec.encode(value));

export const headerLine = (value: ExchangeHeader): string => write(header, value);
export const eventLine = (value: ExchangeEvent): string => write(event, value);
export const blobLine = (value: ExchangeBlob): string => write(blob, value);

/** Whether a file begins like an exchange file. */
export const isExchangeHeader = (line: string): boolean =>
  line.startsWith('{"format":"stemma-jsonl/');

/** Reads one line. `line` is its number, from 1. */
export const readExchangeLine = (
  source: string,
  line: number,
): E.Either<StemmaFault, ExchangeLine> => {
  const parsed = parseJson(source);
  if (E.isLeft(parsed)) return parsed;
  const value = parsed.right;
  const path = `/${String(line)}`;
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return E.left({ _tag: 'InvalidShape', path, expected: 'exchange line' });
  }
  const misfit = (at: { readonly path: string; readonly expected: string }) =>
    E.left({ _tag: 'InvalidShape', path: path + at.path, expected: at.expected } as const);
  if ('format' in value) {
    const read = decodeWith(header, value);
    if (E.isLeft(read)) return misfit(read.left);
    return read.right.format === EXCHANGE_FORMAT
      ? E.right({ _tag: 'header', header: read.right })
      : E.left({ _tag: 'UnknownFormat', fmt: read.right.format });
  }
  if ('blob' in value) {
    const read = decodeWith(blob, value);
    return E.isLeft(read) ? misfit(read.left) : E.right({ _tag: 'blob', blob: read.right });
  }
  const read = decodeWith(event, value);
  return E.isLeft(read) ? misfit(read.left) : E.right({ _tag: 'event', event: read.right });
};
