import type { Stemma } from '../../../face/stemma-face.js';
import { playDemo } from '../demo/play.js';
import { scriptIn, type Script } from '../demo/script.js';
import { refuse } from '../faults.js';
import type { Invocation, Register } from '../invocation.js';
import type { Result } from '../result.js';
import { idOf, pairs } from '../show.js';
import { conversationWithId } from '../targets.js';

const eventsIn = async (stemma: Stemma, conversation: string): Promise<number> => {
  const { streams } = await stemma.audit(conversation);
  return streams.reduce((sum, { entries }) => sum + entries.length, 0);
};

const demo = async (call: Invocation): Promise<Result> => {
  const { look, options } = call;
  const script: Script = scriptIn(look.words.language);
  const id = options.text('id') ?? script.id;
  const stemma = await call.writer();
  // Played once: what people did to it since stays.
  const isThere = (await conversationWithId(stemma, id)) !== undefined;
  if (!isThere) await playDemo(stemma, { ...script, id });
  const overview =
    (await conversationWithId(stemma, id)) ??
    refuse({ _tag: 'NotFound', kind: 'conversation', ref: id });
  const events = await eventsIn(stemma, overview.conversation);
  const { text, number } = look.words;
  return {
    name: 'demo',
    data: { ...overview, events, created: !isThere },
    text: () =>
      pairs([
        [
          isThere ? text.exists : text.created,
          `${id}  "${overview.title ?? ''}"  ${text.demoCounts(
            number(events),
            number(overview.branches),
            number(overview.compactions),
          )}`,
        ],
        [
          text.next,
          `stemma history ${idOf(id)}   ·   stemma context ${idOf(id)} --why   ·   stemma diff ${idOf(id)}/main ${idOf(id)}/retry`,
        ],
      ]),
  };
};

export const demoCommand: Register = ({ program, add }) => {
  add(program, { use: 'demo', key: 'demo', options: ['--id <id>'], run: demo });
};
