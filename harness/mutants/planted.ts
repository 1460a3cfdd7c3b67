import fs from 'node:fs';
import path from 'node:path';

/** A fault to be planted: `find` stands once in `file` and becomes `replace`. */
export interface Planted {
  readonly name: string;
  readonly file: string;
  readonly find: string;
  readonly replace: string;
  /** Why no test can tell the difference. */
  readonly equivalent?: string;
}

const texts = ['name', 'file', 'find', 'replace'] as const;

const isPlanted = (value: unknown): value is Planted => {
  if (typeof value !== 'object' || value === null) return false;
  const fields = value as Readonly<Record<string, unknown>>;
  const { equivalent } = fields;
  return (
    texts.every((name) => typeof fields[name] === 'string') &&
    fields['find'] !== '' &&
    (equivalent === undefined || (typeof equivalent === 'string' && equivalent.trim() !== ''))
  );
};

/** The faults of a folder, by file name. Throws for a file that describes none. */
export const readPlanted = (folder: string): readonly Planted[] =>
  fs
    .readdirSync(folder)
    .filter((name) => name.endsWith('.json'))
    .sort()
    .map((name) => {
      const file = path.join(folder, name);
      const value: unknown = JSON.parse(fs.readFileSync(file, 'utf8'));
      if (!isPlanted(value)) throw new Error(`${file} describes no fault`);
      return value;
    });

/** The text with the fault in it; the count of places when there is not exactly one. */
export const planted = (text: string, { find, replace }: Planted): string | number => {
  const places = text.split(find).length - 1;
  return places === 1 ? text.split(find).join(replace) : places;
};
