/**
 * What of a foreign object may be sent, as data: `value` lets anything through, the others name the
 * fields. Scalars always pass; objects that fit no entry do not.
 */
export type Allowed =
  | 'value'
  | { readonly fields: Readonly<Record<string, Allowed>> }
  | { readonly items: Allowed }
  | { readonly byType: Readonly<Record<string, Allowed>>; readonly otherTypes?: Allowed };

export type WireObject = Readonly<Record<string, unknown>>;

export const isWireObject = (value: unknown): value is WireObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The text of a field; empty when it holds none. */
export const textAt = (object: WireObject, key: string): string => {
  const value = object[key];
  return typeof value === 'string' ? value : '';
};

const pickFields = (value: WireObject, fields: Readonly<Record<string, Allowed>>): WireObject =>
  Object.fromEntries(
    Object.entries(value).flatMap(([key, item]) => {
      const allowed = Object.hasOwn(fields, key) ? fields[key] : undefined;
      const picked = allowed === undefined ? undefined : pickAllowed(item, allowed);
      return picked === undefined ? [] : [[key, picked] as const];
    }),
  );

/** The allowed part of a value, with its keys in the order in which they came. */
export const pickAllowed = (value: unknown, allowed: Allowed): unknown => {
  if (allowed === 'value' || typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) {
    if (!('items' in allowed)) return undefined;
    return value.flatMap((item) => {
      const picked = pickAllowed(item, allowed.items);
      return picked === undefined ? [] : [picked];
    });
  }
  const object = value as WireObject;
  if ('fields' in allowed) return pickFields(object, allowed.fields);
  if (!('byType' in allowed)) return undefined;
  const type = object['type'];
  const isNamed = typeof type === 'string' && Object.hasOwn(allowed.byType, type);
  const member = isNamed ? allowed.byType[type] : allowed.otherTypes;
  return member === undefined ? undefined : pickAllowed(object, member);
};

/** Fields of an object that are not allowed. */
export const foreignFields = (
  value: WireObject,
  fields: Readonly<Record<string, Allowed>>,
): readonly string[] => Object.keys(value).filter((key) => !Object.hasOwn(fields, key));
