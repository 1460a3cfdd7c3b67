import { isClosedCall, messagesOf, seenBy, type SeenMessage, type World } from './naive.js';
import type { Status } from './steps.js';

export type StateReason = 'redacted' | 'withdrawn' | Exclude<Status, 'confirmed'>;

/** What the log alone says: the strongest reason first. */
export const stateReason = (message: SeenMessage): StateReason | undefined => {
  if (message.redacted) return 'redacted';
  if (message.withdrawn) return 'withdrawn';
  return message.status === 'confirmed' ? undefined : message.status;
};

const brokenTurn = (world: World, { branch, at }: SeenMessage, viewer: number): boolean => {
  const log = seenBy(world, viewer).filter((one) => one.branch === branch);
  let isOpen = false;
  for (const { entry, at: place } of log) {
    if (entry.is === 'turn') isOpen = true;
    if (place < at && entry.is === 'ended') isOpen = false;
    if (place > at && isOpen && entry.is === 'ended') return entry.outcome !== 'completed';
    if (place >= at && !isOpen) return false;
  }
  return false;
};

/** Calls of a message that nothing will answer any more: given up, or of a turn that broke off. */
export const closedCallsOf = (
  world: World,
  branch: number,
  message: SeenMessage,
): readonly number[] => {
  const seen = seenBy(world, branch);
  const broken = message.kind === 'message' && brokenTurn(world, message, branch);
  return [...message.calls.keys()].filter((index) => {
    const call = { message: message.id, index };
    const isAnswered = seen.some(
      ({ entry }) =>
        entry.is === 'result' &&
        entry.answers.message === message.id &&
        entry.answers.index === index,
    );
    return !isAnswered && (broken || isClosedCall(seen, call));
  });
};

/** Messages as a model reads them: in log order, but a copy of a superseded message stands for it. */
export const surfaceOf = (world: World, branch: number): readonly SeenMessage[] => {
  const messages = messagesOf(world, branch).filter(({ kind }) => kind !== 'summary');
  const surface: SeenMessage[] = [];
  for (const [index, message] of messages.entries()) {
    const original = messages.findIndex(({ id }) => id === message.origin?.id);
    const replaces =
      original >= 0 && original < index && messages[original]?.status === 'superseded';
    if (!replaces) {
      surface.push(message);
      continue;
    }
    // Behind the original and what replaced it before.
    let place = surface.findIndex(({ id }) => id === message.origin?.id) + 1;
    while (surface[place]?.origin?.id === message.origin?.id && place < surface.length) place += 1;
    surface.splice(place, 0, message);
  }
  return surface;
};
