import type { Branch, Stemma } from '../../src/index.js';
import { plainText } from './canonical.js';

/** Texts of the messages of a branch that are not hidden. */
export const textsOf = async (branch: Branch): Promise<readonly string[]> =>
  (await branch.surface()).items
    .filter(({ out }) => out === undefined)
    .map(({ message }) => plainText(message));

/** Texts that hold what is searched for, in one conversation or in all. */
export const found = async (
  engine: Stemma,
  text: string,
  conversation?: string,
): Promise<readonly string[]> =>
  (await engine.search(text)).hits
    .filter((hit) => conversation === undefined || hit.conversation === conversation)
    .map((hit) => hit.text);
