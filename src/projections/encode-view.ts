type Plain = string | number | boolean | null;

const isPlain = (value: unknown): value is Plain =>
  value === null || ['string', 'number', 'boolean'].includes(typeof value);

// By UTF-16 unit, not by locale: the order must be the same everywhere.
const byText = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

const encodeObject = (value: object): string => {
  const fields = Object.entries(value)
    .filter(([, item]) => item !== undefined)
    .map(([key, item]: [string, unknown]) => [key, encodeView(item)] as const)
    .sort(([a], [b]) => byText(a, b))
    .map(([key, item]) => `${JSON.stringify(key)}:${item}`);
  return `{${fields.join(',')}}`;
};

/**
 * The one text of a view: keys of objects, entries of Maps and members of Sets sorted, absent fields
 * left out. Two views are the same exactly when their texts are (G10). A Map is written as
 * `{"map":[[key,value]…]}`, a Set as `{"set":[…]}`.
 */
export const encodeView = (view: unknown): string => {
  if (isPlain(view)) return JSON.stringify(view);
  if (Array.isArray(view)) return `[${view.map(encodeView).join(',')}]`;
  if (view instanceof Map) {
    const entries = [...view].map(
      ([key, item]: [unknown, unknown]) => `[${encodeView(key)},${encodeView(item)}]`,
    );
    return `{"map":[${entries.sort(byText).join(',')}]}`;
  }
  if (view instanceof Set) {
    return `{"set":[${[...view].map(encodeView).sort(byText).join(',')}]}`;
  }
  if (typeof view === 'object') return encodeObject(view);
  throw new TypeError(`a view cannot hold a ${typeof view}`);
};
