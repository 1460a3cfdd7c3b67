import { oneLine, padTo, widthOf, type Align } from './terminal-text.js';

/** One column of a table. */
export interface Column {
  readonly header?: string;
  /** Numbers belong to the right. */
  readonly align?: Align;
  /** Columns of the terminal that it takes at most. */
  readonly max?: number;
}

/** How wide a table may be. */
export interface TableLimits {
  /** Columns of the terminal; the widest columns give way first. */
  readonly width?: number;
}

const GAP = '  ';
const CELL_MAX = 400;
const CELL_MIN = 3;

const contentWidths = (
  columns: readonly Column[],
  rows: readonly (readonly string[])[],
): number[] =>
  columns.map(({ header = '', max = CELL_MAX }, place) =>
    Math.min(
      max,
      rows.reduce(
        (widest, row) => Math.max(widest, widthOf(oneLine(row[place] ?? '', max))),
        widthOf(oneLine(header, max)),
      ),
    ),
  );

/** Takes columns from the widest cell column until all fit or none can give. */
const fitted = (widths: readonly number[], limit: number): readonly number[] => {
  const result = [...widths];
  const gaps = GAP.length * Math.max(0, widths.length - 1);
  let over = result.reduce((sum, width) => sum + width, gaps) - limit;
  while (over > 0) {
    const widest = Math.max(...result);
    if (widest <= CELL_MIN) break;
    result[result.indexOf(widest)] = widest - 1;
    over -= 1;
  }
  return result;
};

/**
 * Rows of text as lines with aligned columns, counted in columns of the terminal so that Chinese and
 * emoji line up. Cells are made safe to print and cut with an ellipsis. Headers are shown when a
 * column has one.
 */
export const table = (
  columns: readonly Column[],
  rows: readonly (readonly string[])[],
  { width = Number.POSITIVE_INFINITY }: TableLimits = {},
): string => {
  const widths = fitted(contentWidths(columns, rows), width);
  const line = (cells: readonly string[]): string =>
    columns
      .map(({ align = 'left' }, place) => padTo(cells[place] ?? '', widths[place] ?? 0, align))
      .join(GAP)
      .trimEnd();
  const hasHeader = columns.some(({ header }) => header !== undefined);
  const head = hasHeader ? [columns.map(({ header = '' }) => header)] : [];
  return [...head, ...rows].map(line).join('\n');
};
