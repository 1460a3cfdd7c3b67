import type { ContextPlan, PrefixReport } from './plan.js';

const at = (body: unknown, path: readonly (string | number)[]): unknown =>
  path.reduce<unknown>(
    (value, key) =>
      typeof value === 'object' && value !== null
        ? (value as Readonly<Record<string, unknown>>)[key]
        : undefined,
    body,
  );

const textAt = (plan: ContextPlan, index: number): string | undefined => {
  const entry = plan.layout[index];
  return entry === undefined ? undefined : JSON.stringify([entry.path, at(plan.body, entry.path)]);
};

const tokensFrom = (plan: ContextPlan, index: number): number => {
  const behind = new Set(plan.layout.slice(index).flatMap(({ ids }) => ids));
  const tools = plan.layout[index]?.path[0] === 'tools' ? plan.toolTokens : 0;
  return plan.dispositions.reduce(
    (sum, { messageId, in: isIn, tokens }) => sum + (isIn && behind.has(messageId) ? tokens : 0),
    tools,
  );
};

/**
 * Where the second context stops to continue the first: the first piece that differs, the event that
 * caused it, and the tokens that a prefix cache has to read again. `same` when the first is wholly a
 * prefix of the second.
 */
export const comparePlans = (previous: ContextPlan, current: ContextPlan): PrefixReport => {
  let index = 0;
  while (index < previous.layout.length && textAt(previous, index) === textAt(current, index)) {
    index += 1;
  }
  if (index === previous.layout.length) return { same: true, tokensBehind: 0 };
  const before = previous.layout[index];
  const now = current.layout[index];
  const previousId = before?.ids[0];
  const currentId = now?.ids[0];
  const causeOf = (id: string | undefined): ContextPlan['dispositions'][number] | undefined =>
    current.dispositions.find(({ messageId }) => messageId === id);
  const cause = causeOf(previousId)?.cause ?? causeOf(currentId)?.cause;
  const path = now?.path ?? before?.path;
  return {
    same: false,
    ...(path && { path }),
    ...(previousId !== undefined && { previousId }),
    ...(currentId !== undefined && { currentId }),
    ...(cause && { cause }),
    tokensBehind: tokensFrom(current, index),
  };
};
