import { openStemma } from 'stemma';
import { work } from './run-for-weeks.js';

/** A second attempt from an earlier version, beside the first one. */
export const main = async (store: string) => {
  const stemma = await openStemma({ store });
  const first = await stemma.start({ id: 'refund-8812', instructions: 'You answer briefly.' });
  await first.append({ id: 'm-1', role: 'user', content: 'Is order 8822 paid?' });
  await work(first);

  const second = await first.retry({
    before: 'm-1',
    replace: { id: 'm-1b', content: 'Is order 8812 paid?' },
    name: 'typo',
  });
  await work(second);
  await second.promote('the question had a typo');

  const difference = await stemma.diff('refund-8812/main', 'refund-8812/typo');
  const { promoted } = await stemma.directory('refund-8812');
  const answers = [first, second].map(async (branch) => {
    const { items } = await branch.surface();
    const block = items.at(-1)?.message.blocks[0];
    return block?.type === 'text' ? block.text : '';
  });
  const [before, after] = await Promise.all(answers);
  await stemma.close();
  return { difference, before, after, delivered: promoted === second.branch };
};
