import { isEventType } from '../../../domain/events/catalog.js';
import { eventRows, eventSchema } from '../event-schema.js';
import { refuse } from '../faults.js';
import type { Invocation, Register } from '../invocation.js';
import type { Result } from '../result.js';
import { listing } from '../show.js';
import { safeJson } from '../terminal-text.js';

const list = ({ look }: Invocation): Result => {
  const { text } = look.words;
  const columns = [
    { header: text.event },
    { header: text.version, align: 'right' as const },
    { header: text.compat },
  ];
  const cells = eventRows.map(({ type, version, compat }) => [
    type,
    String(version),
    text.compatIs(compat),
  ]);
  return {
    name: 'schemas',
    data: { events: eventRows },
    rows: 'events',
    text: () => listing(look, columns, cells),
  };
};

const schema = (call: Invocation): Promise<Result> => {
  const type = call.args[0] ?? '';
  if (type === '') return Promise.resolve(list(call));
  if (!isEventType(type)) return refuse({ _tag: 'NotFound', kind: 'event', ref: type });
  const found = eventSchema(type);
  const row = eventRows.find((one) => one.type === type);
  return Promise.resolve({
    name: 'schema',
    data: { ...row, jsonSchema: found },
    text: () => safeJson(found, 2),
  });
};

export const schemaCommand: Register = ({ program, add }) => {
  add(program, { use: 'schema [event]', key: 'schema', run: schema });
};
