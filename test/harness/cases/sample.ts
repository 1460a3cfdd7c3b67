import { runCase } from '../../../harness/cases/run-case.js';

type Fields = Readonly<Record<string, unknown>>;

/** A small case that passes, for tests that change one thing in it. */
export const input: Fields = {
  profile: 'openai-chat',
  format: 'canonical',
  operation: 'build_context',
  messages: [
    { id: 's1', role: 'system', content: 'Be terse.' },
    { id: 'u1', role: 'user', content: 'Weather?' },
    { id: 'a1', role: 'assistant', tool_calls: [{ id: 'c1', name: 'look', arguments: '{"a":1}' }] },
    { id: 't1', role: 'tool', content: 'rain', tool_call_id: 'c1' },
    { id: 'a2', role: 'assistant', content: 'It rains.' },
    { id: 'u2', role: 'user', content: 'Thanks' },
  ],
  params: { max_tokens: 100, tokens: { s1: 1, u1: 1, a1: 1, t1: 1, a2: 1, u2: 1 } },
};

export const messages = input['messages'] as readonly Fields[];

/** What went wrong with a case; `ok` or `skip` for one that did not fail. */
export const failureOf = async (changes: Fields, expected: Fields): Promise<string> => {
  const verdict = await runCase({ id: 'T', input: { ...input, ...changes }, expected }, ['memory']);
  return verdict._tag === 'fail' ? verdict.why : verdict._tag;
};

/** The same for the sample as it is. */
export const against = (expected: Fields): Promise<string> => failureOf({}, expected);
