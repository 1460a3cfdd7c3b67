import fs from 'node:fs';
import { fileURLToPath } from 'node:url';
import * as E from 'fp-ts/lib/Either.js';
import { expect } from 'vitest';
import type { StemmaFault } from '../../../src/domain/errors.js';
import type {
  ImportedBranch,
  ImportedItem,
  ImportedMessage,
  ImportPlan,
} from '../../../src/domain/import-plan.js';
import { planImport, type PlanOptions } from '../../../src/infra/importers/detect.js';

const encoder = new TextEncoder();

export const utf8 = (text: string): Uint8Array => encoder.encode(text);

const fixtures = fileURLToPath(new URL('../../fixtures/import/', import.meta.url));

export const fixture = (name: string): Uint8Array =>
  new Uint8Array(fs.readFileSync(`${fixtures}${name}`));

export const expectedOf = (
  folder: string,
): readonly (readonly [string, Readonly<Record<string, unknown>>])[] =>
  Object.entries(
    JSON.parse(fs.readFileSync(`${fixtures}${folder}/expected.json`, 'utf8')) as Readonly<
      Record<string, Readonly<Record<string, unknown>>>
    >,
  );

export type Fields = Readonly<Record<string, unknown>>;

/** A record of a session; `over` replaces or adds fields. */
export const record = (
  type: string,
  uuid: string,
  parentUuid: string | null,
  over: Fields = {},
) => ({
  parentUuid,
  isSidechain: false,
  sessionId: 's1',
  type,
  uuid,
  timestamp: '2026-01-02T03:04:05.678Z',
  ...over,
});

export const user = (
  uuid: string,
  parentUuid: string | null,
  content: unknown = `prompt ${uuid}`,
  over: Fields = {},
) => record('user', uuid, parentUuid, { message: { role: 'user', content }, ...over });

export const assistant = (
  uuid: string,
  parentUuid: string | null,
  apiId: string,
  content: readonly unknown[] = [{ type: 'text', text: `answer ${uuid}` }],
  over: Fields = {},
) =>
  record('assistant', uuid, parentUuid, {
    message: { id: apiId, role: 'assistant', model: 'a-model', content },
    ...over,
  });

export const call = (id: string, input: unknown = { path: 'a' }, name = 'Read') => ({
  type: 'tool_use',
  id,
  name,
  input,
});

export const result = (
  uuid: string,
  parentUuid: string | null,
  callId: string,
  over: Fields = {},
) =>
  user(
    uuid,
    parentUuid,
    [{ type: 'tool_result', tool_use_id: callId, content: `of ${callId}` }],
    over,
  );

export const boundary = (uuid: string, logicalParentUuid?: string, over: Fields = {}) =>
  record('system', uuid, null, {
    subtype: 'compact_boundary',
    content: 'Conversation compacted',
    ...(logicalParentUuid === undefined ? {} : { logicalParentUuid }),
    ...over,
  });

export const summary = (uuid: string, parentUuid: string | null) =>
  user(uuid, parentUuid, `summary ${uuid}`, { isCompactSummary: true });

/** Lines of a session; a text is a line as it is. */
export const linesOf = (records: readonly unknown[]): readonly string[] =>
  records.map((one) => (typeof one === 'string' ? one : JSON.stringify(one)));

export const session = (...records: readonly unknown[]): Uint8Array =>
  utf8(`${linesOf(records).join('\n')}\n`);

export const planned = (bytes: Uint8Array, options: PlanOptions = {}): ImportPlan => {
  const plan = planImport(bytes, options);
  if (E.isLeft(plan)) throw new Error(JSON.stringify(plan.left));
  return plan.right;
};

export const refused = (bytes: Uint8Array, options: PlanOptions = {}): StemmaFault => {
  const plan = planImport(bytes, options);
  if (E.isRight(plan)) throw new Error('it was not refused');
  return plan.left;
};

export const branch = (plan: ImportPlan, key: string, at = 0): ImportedBranch => {
  const found = plan.conversations[at]?.branches.find((one) => one.key === key);
  if (found === undefined) throw new Error(`no branch ${key}`);
  return found;
};

export const recordsOf = (items: readonly ImportedItem[]): readonly string[] =>
  items.map(({ record: key }) => key);

export const messagesOf = (plan: ImportPlan): readonly ImportedMessage[] =>
  plan.conversations.flatMap(({ branches }) =>
    branches.flatMap(({ items }) => items.filter((item) => item.kind === 'message')),
  );

export const message = (plan: ImportPlan, record: string): ImportedMessage => {
  const found = messagesOf(plan).find((item) => item.record === record);
  if (found === undefined) throw new Error(`no message ${record}`);
  return found;
};

/** All texts that a plan keeps word for word. */
export const rawTexts = (plan: ImportPlan): readonly string[] =>
  plan.conversations.flatMap(({ branches }) =>
    branches.flatMap(({ items }) =>
      items.flatMap((item) => {
        if (item.kind === 'record') return [item.raw];
        const kept = item.kind === 'message' ? item.message : item.replacement;
        return kept?.raw === undefined ? [] : [kept.raw.text];
      }),
    ),
  );

/** The plan of a longer file begins, on each branch, with that of the shorter one. */
export const expectBeginning = (shorter: ImportPlan, longer: ImportPlan): void => {
  for (const conversation of shorter.conversations) {
    const grown = longer.conversations.find(
      ({ externalId }) => externalId === conversation.externalId,
    );
    expect(grown, `conversation ${conversation.externalId}`).toBeDefined();
    for (const { key, parent, name, items } of conversation.branches) {
      const found = grown?.branches.find((one) => one.key === key);
      expect(found, `branch ${key}`).toBeDefined();
      expect({ parent: found?.parent, name: found?.name }).toEqual({ parent, name });
      expect(found?.items.slice(0, items.length)).toEqual(items);
    }
  }
};
