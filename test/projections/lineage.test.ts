import { describe, expect, it } from 'vitest';
import type { BranchRegistered } from '../../src/domain/events/directory-events.js';
import type { EventOf } from '../../src/domain/events/catalog.js';
import {
  ancestryOf,
  attemptsOf,
  lineage,
  siblingsOf,
  withHeads,
  type BranchNode,
} from '../../src/projections/lineage.js';
import { project } from '../../src/projections/projection.js';
import { buildBranch, buildDirectory, inline, opened, uid } from '../support/recorded-builder.js';

const registered = (
  name: string,
  more: Partial<BranchRegistered> = {},
): EventOf<'BranchRegistered'> => ({
  type: 'BranchRegistered',
  data: { branch: uid(name), name, depth: 0, ancestors: [], reason: 'start', ...more },
});

const from = (name: string, revision: number) => ({
  branch: uid(name),
  revision,
  hash: `hash ${name} ${String(revision)}`,
});

const forked = (name: string, parent: string, revision: number, more = {}) =>
  registered(name, { parent: from(parent, revision), depth: 1, reason: 'retry', ...more });

const tree = () => {
  const directory = buildDirectory();
  directory.add({ type: 'ConversationStarted', data: { main: uid('main'), labels: [] } });
  directory.add(registered('main'));
  directory.add(forked('retry-1', 'main', 4, { ofModelCall: 'c1', replaces: 'm4' }));
  directory.add(forked('retry-2', 'main', 4, { ofModelCall: 'c1' }));
  directory.add(forked('edit', 'main', 2, { reason: 'edit' }));
  directory.add(forked('deep', 'retry-1', 6, { depth: 2, reason: 'explore' }));
  return directory;
};

const names = (nodes: readonly BranchNode[]): readonly string[] => nodes.map(({ name }) => name);

describe('lineage', () => {
  it('DC6 gives the tree: parents, depth, reason, children', () => {
    const view = project(lineage, tree().events);
    expect(view.main).toBe(uid('main'));
    expect(names([...view.branches.values()])).toEqual([
      'main',
      'retry-1',
      'retry-2',
      'edit',
      'deep',
    ]);
    expect(view.branches.get(uid('main'))?.children).toEqual([
      uid('retry-1'),
      uid('retry-2'),
      uid('edit'),
    ]);
    expect(view.branches.get(uid('retry-1'))).toMatchObject({
      parent: from('main', 4),
      depth: 1,
      reason: 'retry',
      ofModelCall: 'c1',
      replaces: 'm4',
      promoted: false,
      hidden: false,
      children: [uid('deep')],
    });
    expect(names(ancestryOf(view, uid('deep')))).toEqual(['deep', 'retry-1', 'main']);
  });

  it('DC6 names siblings from the same fork point and attempts of a model call', () => {
    const view = project(lineage, tree().events);
    expect(names(siblingsOf(view, uid('retry-1')))).toEqual(['retry-2']);
    expect(names(siblingsOf(view, uid('edit')))).toEqual([]);
    expect(names(attemptsOf(view, 'c1'))).toEqual(['retry-1', 'retry-2']);
    expect(siblingsOf(view, uid('nobody'))).toEqual([]);
  });

  it('DC6 shows new names, the promoted branch and annotations', () => {
    const directory = tree();
    directory.add({ type: 'BranchLabelled', data: { branch: uid('edit'), name: 'better' } });
    directory.add({ type: 'BranchPromoted', data: { branch: uid('retry-1') } });
    directory.add({ type: 'BranchPromoted', data: { branch: uid('edit') } });
    directory.add({
      type: 'FeedbackRecorded',
      data: { target: { kind: 'branch', ref: uid('edit') }, name: 'score', value: inline('5') },
    });
    directory.add({
      type: 'MetadataAnnotated',
      data: { target: { kind: 'message', ref: uid('edit') }, name: 'note', value: inline('x') },
    });
    const view = project(lineage, directory.events);
    expect(view.promoted).toBe(uid('edit'));
    expect(view.branches.get(uid('edit'))).toMatchObject({
      name: 'better',
      formerNames: ['edit'],
      promoted: true,
      annotations: new Map([['score', inline('5')]]),
    });
    expect(view.branches.get(uid('retry-1'))?.promoted).toBe(false);
  });

  it('DC6 joins heads that the branches tell; a branch without its first event has none', () => {
    const view = project(lineage, tree().events);
    const heads = withHeads(view, new Map([[uid('main'), 7]]));
    expect(heads.map(({ name, head }) => [name, head]).slice(0, 2)).toEqual([
      ['main', 7],
      ['retry-1', -1],
    ]);
  });

  it('B58 hides branches of an import until it is completed', () => {
    const directory = buildDirectory();
    directory.add(registered('main'));
    directory.add({
      type: 'ImportStarted',
      data: { import: 'i1', format: 'pi', digest: 'd' },
    });
    directory.add(registered('imported', { reason: 'import' }));
    directory.add(registered('own', { reason: 'explore' }));
    const hidden = () =>
      [...project(lineage, directory.events).branches.values()].map((node) => node.hidden);
    expect(hidden()).toEqual([false, true, false]);
    directory.add({
      type: 'ImportCompleted',
      data: { import: 'i1', messages: 1, records: 1, branches: 1 },
    });
    expect(hidden()).toEqual([false, false, false]);
  });

  it('G10 does not depend on events of branches', () => {
    const main = buildBranch('main');
    main.add(opened('main'));
    const directory = tree();
    const alone = project(lineage, directory.events);
    expect(project(lineage, [...main.events, ...directory.events])).toEqual(alone);
  });

  it('B57 a chain of a thousand forks is walked without recursion', () => {
    const directory = buildDirectory();
    directory.add(registered('b0'));
    for (let depth = 1; depth <= 1000; depth += 1) {
      directory.add(forked(`b${String(depth)}`, `b${String(depth - 1)}`, 0, { depth }));
    }
    const view = project(lineage, directory.events);
    expect(ancestryOf(view, uid('b1000'))).toHaveLength(1001);
  });
});
