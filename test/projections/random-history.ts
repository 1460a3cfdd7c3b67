import * as fc from 'fast-check';
import type { Uid } from '../../src/domain/ids.js';
import type { Recorded } from '../../src/domain/recorded.js';
import {
  answered,
  buildBranch,
  buildDirectory,
  compacted,
  inline,
  messageRefOf,
  opened,
  refOf,
  requested,
  said,
  uid,
  type StreamBuilder,
} from '../support/recorded-builder.js';

/** A conversation with one fork, as a projection reads it. */
export interface Built {
  /** Ancestors up to the fork point, then the fork's own events. */
  readonly lineage: readonly Recorded[];
  readonly directory: readonly Recorded[];
}

/** A choice of what happens next: which kind, about what, with which variant. */
type Choice = readonly [kind: number, about: number, variant: number];

interface World {
  readonly branch: StreamBuilder;
  readonly directory: StreamBuilder;
  readonly messages: { readonly id: string; readonly recorded: Recorded; readonly calls: number }[];
  readonly compactions: { readonly id: string; readonly recorded: Recorded }[];
  readonly modelCalls: string[];
  readonly next: () => string;
}

const pick = <T>(list: readonly T[], at: number): T | undefined => list[at % list.length];

type Happening = (world: World, about: number, variant: number) => void;

const keep = (world: World, id: string, recorded: Recorded, calls = 0): void => {
  world.messages.push({ id, recorded, calls });
};

const happenings: readonly Happening[] = [
  (world, about) => {
    const id = world.next();
    const origin = pick(world.messages, about)?.id;
    const more = about % 3 === 0 && origin !== undefined ? { origin } : {};
    keep(world, id, world.branch.add(said(id, 'user', `said ${id}`, more)));
  },
  (world, about, variant) => {
    const id = world.next();
    const calls = Array.from({ length: variant % 3 }, (_, index) => {
      return [`c${String(about % 4)}${String(index)}`, 'find'] as const;
    });
    const status = (['confirmed', 'draft', 'interrupted'] as const)[about % 3] ?? 'confirmed';
    keep(world, id, world.branch.add(said(id, 'assistant', id, { calls, status })), calls.length);
  },
  (world, about, variant) => {
    const call = pick(
      world.messages.filter(({ calls }) => calls > 0),
      about,
    );
    const id = world.next();
    const answers = call === undefined ? [] : [[call.id, variant % call.calls, 'c'] as const];
    keep(
      world,
      id,
      world.branch.add(answered(id, answers, variant % 5 === 0 ? { late: true } : {})),
    );
  },
  (world, about, variant) => {
    const message = pick(world.messages, about);
    if (message === undefined) return;
    const to = (['confirmed', 'superseded', 'blocked', 'draft'] as const)[variant % 4] ?? 'draft';
    const ref = messageRefOf(message.recorded, message.id);
    world.branch.add({ type: 'MessageStatusChanged', data: { message: ref, to, by: 'x' } });
  },
  (world, about) => {
    const ids = world.messages.slice(about % (world.messages.length + 1)).slice(0, 2);
    world.branch.add({ type: 'MessagesWithdrawn', data: { messages: ids.map(({ id }) => id) } });
  },
  (world, about, variant) => {
    const id = `k${world.next()}`;
    const from = about % (world.messages.length + 1);
    const covered = world.messages.slice(from, from + 1 + (variant % 6)).map((one) => one.id);
    const inner = variant % 2 === 0 ? pick(world.compactions, about)?.id : undefined;
    const all = inner === undefined ? covered : [`summary-${inner}`, ...covered];
    const call = variant % 3 === 0 ? pick(world.modelCalls, about) : undefined;
    const branch = world.branch.events[0]?.meta.branch as Uid;
    const head = world.branch.events.length - 1;
    const runs = [{ branch, from: Math.min(from, head), to: Math.min(from + (variant % 6), head) }];
    const covers = variant % 4 === 1 ? runs : [];
    const more = call === undefined ? { covers } : { covers, madeBy: call };
    world.compactions.push({ id, recorded: world.branch.add(compacted(id, all, more)) });
  },
  (world, about) => {
    const compaction = pick(world.compactions, about);
    if (compaction === undefined) return;
    const data = { compaction: compaction.id, at: refOf(compaction.recorded) };
    world.branch.add({ type: 'CompactionReverted', data });
  },
  (world, about, variant) => {
    const turn = `turn-${String(about % 3)}`;
    const outcome =
      (['completed', 'interrupted', 'failed', 'lost'] as const)[variant % 4] ?? 'lost';
    world.branch.add(
      variant % 2 === 0
        ? { type: 'TurnStarted', data: { turn, run: 'r' } }
        : { type: 'TurnEnded', data: { turn, outcome } },
    );
  },
  (world, about, variant) => {
    const id = `call-${world.next()}`;
    const retryOf = variant % 3 === 0 ? pick(world.modelCalls, about) : undefined;
    const head = world.branch.events.length - 1;
    const from = about % (head + 1);
    const branch = world.branch.events[0]?.meta.branch as Uid;
    world.branch.add(
      requested(id, {
        ...(retryOf === undefined ? {} : { retryOf }),
        purpose: variant % 2 === 0 ? 'turn' : 'compaction',
        directoryRevision: world.directory.events.length - 1,
        selection: [
          { branch, from, to: head, disposition: variant % 4 === 0 ? 'budget' : 'window' },
        ],
      }),
    );
    world.modelCalls.push(id);
  },
  (world, about, variant) => {
    const modelCallId = pick(world.modelCalls, about);
    if (modelCallId === undefined) return;
    world.branch.add(
      variant % 2 === 0
        ? {
            type: 'ModelCallCompleted',
            data: { modelCallId, finishReason: 'stop', usage: { input: variant } },
          }
        : {
            type: 'ModelCallFailed',
            data: { modelCallId, error: { kind: 'lost', retryable: true } },
          },
    );
  },
  (world, about, variant) => {
    const call = pick(
      world.messages.filter(({ calls }) => calls > 0),
      about,
    );
    if (call === undefined) return;
    const ref = { messageId: call.id, index: variant % call.calls };
    const requestId = `r${String(about % 3)}`;
    const argumentsDigest = 'd';
    if (variant % 4 === 0)
      world.branch.add({ type: 'ToolCallAbandoned', data: { call: { ...ref, callId: 'c' } } });
    if (variant % 4 === 1) {
      const data = { requestId, kind: 'human', call: ref, argumentsDigest };
      world.branch.add({ type: 'ApprovalRequested', data });
    }
    if (variant % 4 === 2) {
      const data = { requestId, outcome: 'approved', approver: 'bob' } as const;
      world.branch.add({ type: 'ApprovalResolved', data });
    }
    if (variant % 4 === 3) {
      const own = { attempt: 1, executor: 'w', effect: 'read_only', idempotencyKey: 'k' } as const;
      const data = { call: ref, ...own, argumentsDigest };
      world.branch.add({ type: 'ToolExecutionStarted', data });
    }
  },
  (world, about, variant) => {
    const id = world.next();
    world.branch.add({
      type: 'InstructionsRevised',
      data: {
        name: `slot-${String(about % 2)}`,
        version: variant,
        owner: 'ops',
        role: 'system',
        messageId: id,
        content: inline(id),
        digest: id,
      },
    });
  },
  (world, about, variant) => {
    world.branch.addRaw('New', '{}', { compat: variant % 5 === 0 ? 'must' : 'skip' });
    if (about % 2 === 0) world.directory.addRaw('New', '{}', { compat: 'skip' });
  },
  (world, about) => {
    const message = pick(world.messages, about);
    if (message === undefined) return;
    const data = { message: messageRefOf(message.recorded, message.id), authority: 'dpo' };
    world.directory.add({ type: 'MessageRedacted', data });
  },
  (world, about, variant) => {
    const message = pick(world.messages, about);
    if (message === undefined) return;
    const id = world.next();
    const origin = messageRefOf(message.recorded, message.id);
    const data = {
      from: refOf(message.recorded),
      mode: 'pick',
      messages: [{ id, origin }],
    } as const;
    world.branch.add({ type: 'BranchMerged', data });
    keep(world, id, world.branch.add(said(id, 'user', id)));
    if (variant % 2 === 0) {
      world.directory.add({ type: 'BranchPromoted', data: { branch: uid('main') } });
    }
  },
];

const build = (choices: readonly Choice[], forkAt: number): Built => {
  const main = buildBranch('main');
  const fork = buildBranch('fork');
  const directory = buildDirectory();
  let count = 0;
  const next = (): string => {
    count += 1;
    return `m${String(count)}`;
  };
  const shared = { directory, messages: [], compactions: [], modelCalls: [], next };
  main.add(opened('main'));
  directory.add({ type: 'ConversationStarted', data: { main: uid('main'), labels: [] } });
  let branch = main;
  choices.forEach(([kind, about, variant], index) => {
    if (index === forkAt) {
      fork.add(opened('fork', main.events.at(-1)));
      branch = fork;
    }
    happenings[kind % happenings.length]?.({ ...shared, branch }, about, variant);
  });
  return { lineage: [...main.events, ...fork.events], directory: directory.events };
};

const choice = fc.tuple(fc.nat({ max: 29 }), fc.nat({ max: 40 }), fc.nat({ max: 11 }));
/** Any such conversation, with everything in it that a log may hold. */
export const built: fc.Arbitrary<Built> = fc
  .tuple(fc.array(choice, { maxLength: 60, minLength: 5 }), fc.nat({ max: 80 }))
  .map(([choices, forkAt]) => build(choices, forkAt));
