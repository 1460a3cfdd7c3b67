import { describe, expect, it } from 'vitest';
import { byActivity, catalog } from '../../src/projections/catalog.js';
import { project } from '../../src/projections/projection.js';
import {
  answered,
  buildBranch,
  buildDirectory,
  compacted,
  inline,
  messageRefOf,
  opened,
  said,
  second,
  uid,
} from '../support/recorded-builder.js';

const conversation = (name: string, at: number) => {
  const directory = buildDirectory(uid(name));
  directory.add(
    {
      type: 'ConversationStarted',
      data: {
        main: uid(`${name}-main`),
        title: inline(`title of ${name}`),
        labels: [{ name: 'team', value: 'a' }],
        externalRef: inline(`ref of ${name}`),
      },
    },
    { actor: 'ann', at: second(at) },
  );
  return directory;
};

describe('catalog', () => {
  it('SE1 lists a conversation with title, labels, start, branches and state', () => {
    const directory = conversation('one', 5);
    const register = (branch: string) =>
      directory.add(
        {
          type: 'BranchRegistered',
          data: { branch: uid(branch), name: branch, depth: 0, ancestors: [], reason: 'retry' },
        },
        { at: second(6) },
      );
    register('one-main');
    register('retry');
    directory.add({ type: 'BranchPromoted', data: { branch: uid('retry') } }, { at: second(7) });
    directory.add(
      {
        type: 'MetadataAnnotated',
        data: { target: { kind: 'conversation', ref: uid('one') }, name: 'n', value: inline('v') },
      },
      { at: second(8) },
    );
    directory.add({ type: 'ConversationClosed', data: {} }, { at: second(9) });
    expect(project(catalog, directory.events).get(uid('one'))).toEqual({
      conversation: uid('one'),
      title: inline('title of one'),
      labels: [{ name: 'team', value: 'a' }],
      externalRef: inline('ref of one'),
      main: uid('one-main'),
      promoted: uid('retry'),
      startedAt: second(5),
      startedBy: 'ann',
      branches: 2,
      messages: 0,
      turns: 0,
      compactions: 0,
      redactions: 0,
      closed: true,
      importing: false,
      lastActivityAt: second(9),
      annotations: new Map([['n', inline('v')]]),
    });
    directory.add({ type: 'ConversationReopened', data: {} }, { at: second(9) });
    directory.add({
      type: 'ImportStarted',
      data: { import: 'i', format: 'pi', digest: 'd' },
    });
    expect(project(catalog, directory.events).get(uid('one'))).toMatchObject({
      closed: false,
      importing: true,
    });
  });

  it('SE1 counts what its branches hold, fed in any interleaving', () => {
    const directory = conversation('one', 0);
    const main = buildBranch('one-main', uid('one'));
    main.add(opened('main'), { at: second(1) });
    main.add({ type: 'TurnStarted', data: { turn: 't', run: 'r' } }, { at: second(2) });
    const message = main.add(said('a1', 'assistant', 'x', { calls: [['c', 'f']] }));
    main.add(answered('t1', [['a1', 0, 'c']]));
    main.add(compacted('k', ['a1', 't1']), { at: second(30) });
    directory.add({
      type: 'MessageRedacted',
      data: { message: messageRefOf(message, 'a1'), authority: 'dpo' },
    });
    const view = project(catalog, [...directory.events, ...main.events]);
    expect(view.get(uid('one'))).toMatchObject({
      messages: 2,
      turns: 1,
      compactions: 1,
      redactions: 1,
      branches: 1,
      lastActivityAt: second(30),
    });
    expect(project(catalog, [...main.events, ...directory.events])).toEqual(view);
  });

  it('SE1 sorts a list by latest activity, then by uid', () => {
    const events = [
      ...conversation('old', 1).events,
      ...conversation('new', 9).events,
      ...conversation('same', 9).events,
    ];
    const listed = byActivity(project(catalog, events)).map((row) => row.conversation);
    expect(listed).toEqual([...[uid('new'), uid('same')].sort(), uid('old')]);
  });
});
