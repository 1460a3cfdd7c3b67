import * as E from 'fp-ts/lib/Either.js';
import type { Uid } from '../domain/ids.js';
import type { Slot } from '../domain/slot.js';
import { catalog, type CatalogRow } from '../projections/catalog.js';
import { openSlots } from './content.js';
import { left, type EngineContext } from './engine-context.js';
import { projectConversation, type ConversationSummary } from './queries.js';
import type { Task } from './runtime.js';

/** A conversation with the counts that only its branches tell. */
export interface Overview extends ConversationSummary {
  readonly messages: number;
  readonly turns: number;
  readonly compactions: number;
}

const overviewOf = (
  row: CatalogRow,
  textIn: (slot: Slot | undefined) => string | undefined,
): Overview => {
  const { title, externalRef, annotations: _annotations, ...rest } = row;
  const [id, name] = [textIn(externalRef), textIn(title)];
  return {
    ...rest,
    ...(id === undefined ? {} : { id }),
    ...(name === undefined ? {} : { title: name }),
  };
};

/** One conversation at a glance. Reads all of its events. */
export const overview =
  (context: EngineContext, conversation: Uid): Task<Overview> =>
  async () => {
    const rows = await projectConversation(context, conversation, catalog)();
    if (E.isLeft(rows)) return rows;
    const row = rows.right.get(conversation);
    if (row === undefined)
      return left({ _tag: 'NotFound', kind: 'conversation', ref: conversation });
    const slots = [row.title, row.externalRef].filter((slot) => slot !== undefined);
    const key = { tenant: context.tenant, conversation };
    const open = await openSlots(context.runtime, key, slots)();
    if (E.isLeft(open)) return open;
    const textIn = (slot: Slot | undefined): string | undefined => {
      const opened = slot === undefined ? undefined : open.right(slot);
      return opened?._tag === 'text' ? opened.text : undefined;
    };
    return E.right(overviewOf(row, textIn));
  };
