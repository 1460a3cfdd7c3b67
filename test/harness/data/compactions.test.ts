import { describe, expect, it } from 'vitest';
import { openStemma } from '../../../src/index.js';
import { boundary, record, session, summary, user } from '../../infra/importers/sessions.js';

const live = async (
  bytes: Uint8Array,
): Promise<readonly (readonly [string, readonly string[]])[]> => {
  const stemma = await openStemma({ store: 'memory:' });
  try {
    const { conversations } = await stemma.import(bytes);
    const branch = await stemma.open(conversations[0]?.conversation ?? '');
    const { compactions } = await branch.surface();
    return compactions.map(({ replacement, covered }) => [replacement?.id ?? '', covered] as const);
  } finally {
    await stemma.close();
  }
};

describe('imported compactions in the store', () => {
  it('CX5 one is in force, with what it covers', async () => {
    const bytes = session(
      user('u1', null),
      record('system', 's1', 'u1', { subtype: 'note' }),
      user('u2', 's1'),
      boundary('b1', 'u2'),
      summary('k1', 'b1'),
      user('u3', 'k1'),
    );
    expect(await live(bytes)).toEqual([['k1', ['u1', 'u2']]]);
  });

  it('CX5 a later one stands for the earlier summary too, and alone is in force', async () => {
    const bytes = session(
      user('u1', null),
      boundary('b1', 'u1'),
      summary('k1', 'b1'),
      user('u2', 'k1'),
      boundary('b2', 'u2'),
      summary('k2', 'b2'),
      boundary('b3', 'k2'),
      summary('k3', 'b3'),
      user('u3', 'k3'),
    );
    expect(await live(bytes)).toEqual([['k3', ['u1', 'u2']]]);
  });
});
