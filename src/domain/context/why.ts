import type { Repair } from '../profiles/repair.js';
import type { ContextPlan, MessageDisposition } from './plan.js';

/** Why one message is in a context or is not, and what was changed on it (CX3). */
export interface WhyRecord extends Omit<MessageDisposition, 'place' | 'unit'> {
  readonly place?: MessageDisposition['place'];
  readonly unit?: string;
  readonly repairs: readonly Repair[];
}

const isAbout = (repair: Repair, messageId: string): boolean =>
  repair.id === messageId || (repair.ids ?? []).includes(messageId);

/** The reason on record; a message that was no candidate is `not_on_branch`. */
export const why = (plan: ContextPlan, messageId: string): WhyRecord => {
  const repairs = plan.repairs.filter((repair) => isAbout(repair, messageId));
  const found = plan.dispositions.find((entry) => entry.messageId === messageId);
  return found === undefined
    ? { messageId, in: false, disposition: 'not_on_branch', tokens: 0, repairs }
    : { ...found, repairs };
};
