import type { BranchContext } from '../engine/engine-context.js';
import {
  eventsPage,
  historyPage,
  type EventsPage,
  type HistoryPage,
} from '../engine/history-pages.js';
import type { PageOptions } from '../engine/paging.js';
import { run } from './stemma-error.js';

/** What a branch gives page by page. */
export interface Paging {
  /** `history` in pages: what was said and the compactions, in log order or the latest first. */
  readonly historyPage: (options?: PageOptions) => Promise<HistoryPage>;
  /** The branch's own events as they are stored; unknown and damaged ones are marked as such. */
  readonly events: (options?: PageOptions) => Promise<EventsPage>;
}

export const paging = (context: BranchContext): Paging => ({
  historyPage: (options) => run(historyPage(context, options)),
  events: (options) => run(eventsPage(context, options)),
});
