import pc from 'picocolors';
import { safeText } from './terminal-text.js';
import type { Io } from './io.js';

/** Marks for what words say already: colour is never the only sign. */
export interface Paint {
  readonly strong: (text: string) => string;
  readonly faint: (text: string) => string;
  readonly good: (text: string) => string;
  readonly bad: (text: string) => string;
  readonly odd: (text: string) => string;
}

const set = (value: string | undefined): boolean => value !== undefined && value !== '';

/** `--no-color` and NO_COLOR win, then FORCE_COLOR, then whether a terminal reads along. */
export const wantsColor = ({ env, stdout }: Io, flag: boolean): boolean => {
  if (!flag || set(env['NO_COLOR'])) return false;
  if (set(env['FORCE_COLOR'])) return env['FORCE_COLOR'] !== '0';
  return stdout.isTTY && env['TERM'] !== 'dumb';
};

export const paintOf = (isColored: boolean): Paint => {
  const { bold, dim, green, red, yellow } = pc.createColors(isColored);
  return { strong: bold, faint: dim, good: green, bad: red, odd: yellow };
};

// The only sequences that `paintOf` writes.
// eslint-disable-next-line no-control-regex
const OWN_COLORS = /(\u001b\[(?:0|1|2|22|31|32|33|39)m)/;

/**
 * The last gate before a terminal (S03): everything but our own colours is made visible, also where
 * a command forgot to.
 */
export const gate = (text: string, isColored: boolean): string =>
  isColored
    ? text
        .split(OWN_COLORS)
        .map((part, index) => (index % 2 === 1 ? part : safeText(part)))
        .join('')
    : safeText(text);
