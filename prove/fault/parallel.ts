import os from 'node:os';

/** Runs tasks, as many at once as there are processors; their results in the order of the tasks. */
export const inParallel = async <A>(
  tasks: readonly (() => Promise<A>)[],
  most = os.availableParallelism(),
): Promise<readonly A[]> => {
  const results: A[] = [];
  let next = 0;
  const work = async (): Promise<void> => {
    for (let at = next++; at < tasks.length; at = next++) {
      const task = tasks[at];
      if (task !== undefined) results[at] = await task();
    }
  };
  await Promise.all(Array.from({ length: Math.min(most, tasks.length) }, work));
  return results;
};

/** `total` in parts of at most `most`. */
export const partsOf = (total: number, most: number): readonly number[] =>
  Array.from({ length: Math.ceil(total / most) }, (_item, at) => Math.min(most, total - at * most));
