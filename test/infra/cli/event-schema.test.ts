import { describe, expect, it } from 'vitest';
import * as E from 'fp-ts/lib/Either.js';
import type { Codec } from '../../../src/domain/codec.js';
import { codecs, isEventType, type EventType } from '../../../src/domain/events/catalog.js';
import { eventRows, eventSchema } from '../../../src/infra/cli/event-schema.js';
import { answered, compacted, requested, said } from '../../support/recorded-builder.js';

const hasShape = (type: EventType, data: unknown): boolean =>
  E.isRight((codecs[type] as Codec<unknown>).decode(data));

describe('schemas of events', () => {
  it('has one for every stored type', () => {
    expect(eventRows.map(({ type }) => type)).toContain('MessageAppended');
    expect(eventRows.every(({ type }) => isEventType(type))).toBe(true);
    expect(eventRows.find(({ type }) => type === 'BranchLabelled')).toEqual({
      type: 'BranchLabelled',
      version: 1,
      compat: 'skip',
    });
  });

  it('UP1 says which fields there are, what they hold, and which must be there', () => {
    expect(eventSchema('TurnStarted')).toEqual({
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      title: 'TurnStarted',
      type: 'object',
      properties: {
        turn: { type: 'string' },
        run: { type: 'string' },
        cause: { type: 'string' },
      },
      required: ['turn', 'run'],
      additionalProperties: false,
    });
    expect(eventSchema('TurnEnded')).toMatchObject({
      properties: { outcome: { enum: ['completed', 'interrupted', 'failed', 'lost'] } },
    });
    expect(eventSchema('MessagesWithdrawn')).toMatchObject({
      properties: { messages: { type: 'array', items: { type: 'string' } } },
      required: ['messages'],
    });
    expect(eventSchema('MessageAppended')).toMatchObject({
      properties: {
        message: {
          title: 'StoredMessage',
          properties: {
            role: { enum: ['system', 'developer', 'user', 'assistant', 'tool'] },
            toolCalls: { items: { title: 'StoredCall', required: ['id', 'name', 'arguments'] } },
            pinned: { type: 'boolean' },
          },
        },
      },
    });
  });

  // The schema is read off the codec: both must agree on what may be left out and what is unknown.
  it.each([
    said('m-1', 'user', 'hello'),
    answered('r-1', [['m-1', 0, 'c']]),
    compacted('k', ['m-1']),
    requested('c-1'),
  ])('UP1 agrees with the codec of $type', ({ type, data }) => {
    const schema = eventSchema(type) as {
      readonly properties: Readonly<Record<string, unknown>>;
      readonly required: readonly string[];
    };
    expect(hasShape(type, data)).toBe(true);
    for (const [key, value] of Object.entries(data)) {
      if (value === undefined) continue;
      expect(Object.keys(schema.properties)).toContain(key);
      const rest = Object.fromEntries(Object.entries(data).filter(([name]) => name !== key));
      expect(hasShape(type, rest)).toBe(!schema.required.includes(key));
    }
    expect(hasShape(type, { ...data, extra: 1 })).toBe(false);
  });

  it('every required field of every type is one of its fields', () => {
    for (const { type } of eventRows) {
      const { properties, required } = eventSchema(type) as {
        readonly properties: Readonly<Record<string, unknown>>;
        readonly required: readonly string[];
      };
      expect(Object.keys(properties)).toEqual(expect.arrayContaining([...required]));
    }
  });
});
