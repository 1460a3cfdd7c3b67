import type { LayoutEntry, Violation } from '../profiles/profile.js';

/** The piece of the body that holds the wire message of this index. */
export const entryAt = (
  layout: readonly LayoutEntry[],
  index: number | undefined,
): LayoutEntry | undefined =>
  layout.find(({ path }) => path.length === 2 && path[1] === index && index !== undefined);

/** A violation with the ids of the messages that it is about, where it names no calls. */
export const placedViolation = (violation: Violation, layout: readonly LayoutEntry[]): Violation =>
  violation.ids.length > 0
    ? violation
    : { ...violation, ids: entryAt(layout, violation.index)?.ids ?? [] };
