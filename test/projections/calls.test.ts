import { describe, expect, it } from 'vitest';
import type {
  ModelCallCompleted,
  ModelCallFailed,
} from '../../src/domain/events/model-call-events.js';
import type { EventOf } from '../../src/domain/events/catalog.js';
import type { Recorded } from '../../src/domain/recorded.js';
import { modelCalls, type ModelCall } from '../../src/projections/calls.js';
import { project } from '../../src/projections/projection.js';
import {
  buildBranch,
  inline,
  messageRefOf,
  opened,
  refOf,
  requested,
  said,
  uid,
} from '../support/recorded-builder.js';

const completed = (
  modelCallId: string,
  more: Partial<ModelCallCompleted> = {},
): EventOf<'ModelCallCompleted'> => ({
  type: 'ModelCallCompleted',
  data: { modelCallId, finishReason: 'stop', usage: { input: 5, output: 7 }, ...more },
});

const failed = (
  modelCallId: string,
  error: Partial<ModelCallFailed['error']> = {},
): EventOf<'ModelCallFailed'> => ({
  type: 'ModelCallFailed',
  data: { modelCallId, error: { kind: 'transport', retryable: true, ...error } },
});

const callOf = (events: readonly Recorded[], id: string): ModelCall => {
  const call = project(modelCalls, events).calls.find(({ modelCallId }) => modelCallId === id);
  if (call === undefined) throw new Error(`no call ${id}`);
  return call;
};

describe('model calls', () => {
  it('CX4 keep the context that was selected, the digest of the request and the versions used', () => {
    const main = buildBranch('main');
    const selection = [{ branch: uid('main'), from: 0, to: 3, disposition: 'window' }];
    const request = main.add(
      requested('c1', {
        selection,
        model: 'm-1',
        budget: 900,
        tools: inline('[]'),
        instructions: [{ name: 'default', version: 2 }],
        branchRevision: 3,
        directoryRevision: 1,
      }),
    );
    expect(callOf(main.events, 'c1')).toMatchObject({
      place: refOf(request),
      state: 'open',
      selection,
      model: 'm-1',
      profile: { name: 'openai-chat', version: 1 },
      policy: { name: 'default', version: 1 },
      budget: 900,
      tools: inline('[]'),
      instructions: [{ name: 'default', version: 2 }],
      branchRevision: 3,
      directoryRevision: 1,
      requestDigest: 'digest of c1',
      first: 'c1',
      inherited: false,
      late: [],
    });
  });

  it('CX4 keep the answer with its usage and the message that it wrote', () => {
    const main = buildBranch('main');
    main.add(requested('c1'));
    const message = main.add(said('a1', 'assistant', 'hello'));
    const answer = main.add(
      completed('c1', { message: messageRefOf(message, 'a1'), responseId: 'r', latencyMs: 30 }),
    );
    const call = callOf(main.events, 'c1');
    expect(call.state).toBe('completed');
    expect(call.answer).toMatchObject({
      place: refOf(answer),
      message: { id: 'a1', revision: 1 },
      usage: { input: 5, output: 7 },
      responseId: 'r',
      latencyMs: 30,
    });
  });

  it('SE3 a retry on the same branch is a chain of attempts', () => {
    const main = buildBranch('main');
    main.add(requested('c1'));
    main.add(failed('c1'));
    main.add(requested('c2', { attempt: 2, retryOf: 'c1' }));
    main.add(failed('c2'));
    main.add(requested('c3', { attempt: 3, retryOf: 'c2' }));
    main.add(requested('other'));
    const view = project(modelCalls, main.events);
    expect(view.chains).toEqual(
      new Map([
        ['c1', ['c1', 'c2', 'c3']],
        ['other', ['other']],
      ]),
    );
    expect(callOf(main.events, 'c3').first).toBe('c1');
  });

  it('SE3 a chain that names itself in a circle still ends', () => {
    const main = buildBranch('main');
    main.add(requested('c1', { retryOf: 'c2' }));
    main.add(requested('c2', { retryOf: 'c1' }));
    expect(project(modelCalls, main.events).calls).toHaveLength(2);
  });

  it('SE1 tells failed, lost and open calls apart', () => {
    const main = buildBranch('main');
    for (const id of ['failed', 'lost', 'lost-too', 'open']) main.add(requested(id));
    main.add(failed('failed', { kind: 'provider', code: '429' }));
    main.add(failed('lost', { kind: 'lost', retryable: false }));
    main.add(failed('lost-too', { kind: 'other', lost: true }));
    main.add(completed('never-requested'));
    expect(
      project(modelCalls, main.events).calls.map(({ modelCallId, state }) => [modelCallId, state]),
    ).toEqual([
      ['failed', 'failed'],
      ['lost', 'lost'],
      ['lost-too', 'lost'],
      ['open', 'open'],
    ]);
    expect(callOf(main.events, 'failed').failure?.error.code).toBe('429');
  });

  it('SE1 an answer after the outcome is late and changes nothing', () => {
    const main = buildBranch('main');
    main.add(requested('c1'));
    main.add(failed('c1', { kind: 'lost' }));
    main.add(completed('c1', { late: true, responseId: 'late-1' }));
    main.add(completed('c1', { responseId: 'late-2' }));
    const call = callOf(main.events, 'c1');
    expect(call.state).toBe('lost');
    expect(call.answer).toBeUndefined();
    expect(call.late.map(({ responseId }) => responseId)).toEqual(['late-1', 'late-2']);
  });

  it('SE1 a failure after the answer takes nothing back', () => {
    const main = buildBranch('main');
    main.add(requested('c1'));
    main.add(completed('c1'));
    main.add(failed('c1'));
    expect(callOf(main.events, 'c1').state).toBe('completed');
    expect(callOf(main.events, 'c1').failure).toBeUndefined();
  });

  it('SE1 a call of the parent is inherited by a fork', () => {
    const main = buildBranch('main');
    const request = main.add(requested('c1'));
    const fork = buildBranch('fork');
    fork.add(opened('fork', request));
    fork.add(requested('c2'));
    const lineage = [...main.events, ...fork.events];
    expect(callOf(lineage, 'c1').inherited).toBe(true);
    expect(callOf(lineage, 'c2').inherited).toBe(false);
  });
});
