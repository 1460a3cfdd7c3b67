import { describe, expect, it } from 'vitest';
import type { Recorded } from '../../src/domain/recorded.js';
import { project } from '../../src/projections/projection.js';
import { toolExchanges, type ToolExchange } from '../../src/projections/tool-exchanges.js';
import {
  answered,
  buildBranch,
  messageRefOf,
  opened,
  refOf,
  said,
  second,
  type StreamBuilder,
} from '../support/recorded-builder.js';

const callNamed = (events: readonly Recorded[], messageId: string, index = 0): ToolExchange => {
  const found = project(toolExchanges, events).exchanges.find(
    (exchange) => exchange.messageId === messageId && exchange.index === index,
  );
  if (found === undefined) throw new Error(`no call ${messageId} ${String(index)}`);
  return found;
};

const start = (main: StreamBuilder, messageId: string, attempt = 1): Recorded =>
  main.add({
    type: 'ToolExecutionStarted',
    data: {
      call: { messageId, index: 0 },
      attempt,
      executor: 'worker',
      effect: 'idempotent',
      idempotencyKey: 'key',
      argumentsDigest: 'digest',
    },
  });

const ask = (main: StreamBuilder, requestId: string, messageId: string): Recorded =>
  main.add({
    type: 'ApprovalRequested',
    data: { requestId, kind: 'human', call: { messageId, index: 0 }, argumentsDigest: 'digest' },
  });

const resolve = (
  main: StreamBuilder,
  requestId: string,
  outcome: 'approved' | 'denied' | 'expired',
): Recorded =>
  main.add({ type: 'ApprovalResolved', data: { requestId, outcome, approver: 'bob' } });

const calling = (id: string, ...callIds: readonly string[]) =>
  said(id, 'assistant', '', { calls: callIds.map((callId) => [callId, 'find'] as const) });

describe('tool exchanges', () => {
  it('SE1 follow a call through all its states', () => {
    const main = buildBranch('main');
    const state = (): string => callNamed(main.events, 'a1').state;
    main.add(calling('a1', 'c1'));
    expect(state()).toBe('not_started');
    ask(main, 'r1', 'a1');
    expect(state()).toBe('awaiting_approval');
    resolve(main, 'r1', 'expired');
    expect(state()).toBe('not_started');
    ask(main, 'r2', 'a1');
    resolve(main, 'r2', 'approved');
    expect(state()).toBe('not_started');
    start(main, 'a1');
    expect(state()).toBe('started');
    main.add(answered('t1', [['a1', 0, 'c1']]));
    expect(state()).toBe('answered');
  });

  it('SE1 show denied and abandoned calls', () => {
    const main = buildBranch('main');
    main.add(calling('a1', 'c1', 'c2'));
    ask(main, 'r1', 'a1');
    resolve(main, 'r1', 'denied');
    const abandoned = main.add({
      type: 'ToolCallAbandoned',
      data: { call: { messageId: 'a1', index: 1, callId: 'c2' } },
    });
    expect(callNamed(main.events, 'a1').state).toBe('denied');
    expect(callNamed(main.events, 'a1').approvals[0]?.resolved).toMatchObject({
      outcome: 'denied',
      approver: 'bob',
    });
    expect(callNamed(main.events, 'a1', 1)).toMatchObject({
      state: 'abandoned',
      abandoned: refOf(abandoned),
    });
  });

  it('SE1 keep every attempt, the outcome, and the time from the last start to the result', () => {
    const main = buildBranch('main');
    main.add(calling('a1', 'c1'));
    start(main, 'a1', 1);
    start(main, 'a1', 2);
    main.add(answered('t1', [['a1', 0, 'c1']], { outcome: 'error' }), { at: second(7) });
    const exchange = callNamed(main.events, 'a1');
    expect(exchange.attempts.map(({ attempt }) => attempt)).toEqual([1, 2]);
    expect(exchange.outcome).toBe('error');
    expect(exchange.durationMs).toBe(5000);
  });

  it('SE1 prefer the duration that the result states', () => {
    const main = buildBranch('main');
    main.add(calling('a1', 'c1'));
    start(main, 'a1');
    main.add(answered('t1', [['a1', 0, 'c1']], { durationMs: 12 }));
    expect(callNamed(main.events, 'a1').durationMs).toBe(12);
  });

  it('B29 a second result is late; the first one is the outcome', () => {
    const main = buildBranch('main');
    main.add(calling('a1', 'c1'));
    main.add(answered('t1', [['a1', 0, 'c1']], { outcome: 'unknown' }));
    main.add(answered('t2', [['a1', 0, 'c1']], { outcome: 'ok' }));
    const exchange = callNamed(main.events, 'a1');
    expect(exchange.outcome).toBe('unknown');
    expect(exchange.answers.map(({ messageId, late }) => [messageId, late])).toEqual([
      ['t1', false],
      ['t2', true],
    ]);
  });

  it('SE1 a fork inherits an open call but neither its start nor its approval', () => {
    const main = buildBranch('main');
    main.add(calling('a1', 'c1'));
    ask(main, 'r1', 'a1');
    resolve(main, 'r1', 'approved');
    const started = start(main, 'a1');
    const fork = buildBranch('fork');
    fork.add(opened('fork', started));
    const lineage = (): readonly Recorded[] => [...main.events, ...fork.events];
    expect(callNamed(main.events, 'a1').state).toBe('started');
    expect(callNamed(lineage(), 'a1')).toMatchObject({ state: 'not_started', inherited: true });
    expect(callNamed(lineage(), 'a1').attempts).toHaveLength(1);
    ask(fork, 'r2', 'a1');
    expect(callNamed(lineage(), 'a1').state).toBe('awaiting_approval');
  });

  it('SE1 a fork inherits neither a waiting nor a refused approval', () => {
    for (const outcome of ['waiting', 'denied'] as const) {
      const main = buildBranch('main');
      main.add(calling('a1', 'c1'));
      const asked = ask(main, 'r1', 'a1');
      const point = outcome === 'denied' ? resolve(main, 'r1', outcome) : asked;
      const fork = buildBranch('fork');
      fork.add(opened('fork', point));
      expect(callNamed(main.events, 'a1').state).not.toBe('not_started');
      expect(callNamed([...main.events, ...fork.events], 'a1').state).toBe('not_started');
    }
  });

  it('RL5 show calls of a message that does not count with its status of now', () => {
    const main = buildBranch('main');
    const message = main.add(calling('a1', 'c1'));
    main.add({
      type: 'MessageStatusChanged',
      data: { message: messageRefOf(message, 'a1'), to: 'superseded', by: 'x' },
    });
    expect(callNamed(main.events, 'a1').messageStatus).toBe('superseded');
  });
});

describe('pairing', () => {
  const pairingOf = (main: StreamBuilder) => project(toolExchanges, main.events).pairing;

  it('RL6 counts calls and results by position', () => {
    const main = buildBranch('main');
    main.add(calling('a1', 'c1', 'c2'));
    main.add(answered('t1', [['a1', 1, 'c2']]));
    main.add(calling('a2', 'c1', 'c3', '', ''));
    main.add(answered('t2', [['a2', 0, 'c1']]));
    main.add(answered('t3', [['a2', 0, 'c1']], { late: true }));
    main.add(answered('t4', []));
    main.add(
      answered('t5', [
        ['a2', 2, ''],
        ['a2', 3, ''],
      ]),
    );
    expect(pairingOf(main)).toEqual({
      toolCalls: 6,
      toolResults: 6,
      paired: 4,
      orphanResults: 2,
      unansweredCalls: 2,
      reusedCallIds: ['c1'],
    });
  });

  it('RL6 an abandoned call is unanswered; a result for it still pairs', () => {
    const main = buildBranch('main');
    main.add(calling('a1', 'c1'));
    main.add({
      type: 'ToolCallAbandoned',
      data: { call: { messageId: 'a1', index: 0, callId: 'c1' } },
    });
    expect(pairingOf(main)).toMatchObject({ paired: 0, unansweredCalls: 1 });
    main.add(answered('t1', [['a1', 0, 'c1']], { late: true }));
    expect(pairingOf(main)).toMatchObject({ paired: 1, orphanResults: 0, unansweredCalls: 0 });
  });

  it('RL6 names orphans, and a result for a call that does not exist is one', () => {
    const main = buildBranch('main');
    main.add(calling('a1', 'c1'));
    main.add(calling('a2', 'c2'));
    main.add(answered('t1', [['a1', 5, 'c1']]));
    main.add(answered('t2', [['a1', 1, 'c1']]));
    main.add(answered('t3', [['nobody', 0, 'c1']]));
    const { orphans } = project(toolExchanges, main.events);
    expect(orphans.map(({ messageId }) => messageId)).toEqual(['t1', 't2', 't3']);
    expect(pairingOf(main).paired).toBe(0);
  });
});
