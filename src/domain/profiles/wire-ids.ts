import { base64url, hashParts } from '../digest.js';

const HASH_CHARS = 16;

/** 96 bits of a hash in base64url: tells apart what a cut or a replaced character made alike. */
export const shortHash = (...parts: readonly string[]): string =>
  base64url(hashParts(parts)).slice(0, HASH_CHARS);

/** What an id may look like on the wire. */
export interface IdShape {
  readonly maxLength: number;
  /** Matches one character that is not allowed; with the flag `g`. */
  readonly forbidden?: RegExp;
}

const isAllowed = (id: string, { maxLength, forbidden }: IdShape): boolean =>
  id !== '' && id.length <= maxLength && (forbidden === undefined || id.search(forbidden) < 0);

/**
 * The wire form of the n-th use of an id: the id itself when it is valid and used for the first time,
 * else a readable beginning and a hash of the whole id and the use. Always fits (OC5, A6).
 */
export const mapId = (id: string, occurrence: number, shape: IdShape): string => {
  if (occurrence === 0 && isAllowed(id, shape)) return id;
  const { maxLength, forbidden } = shape;
  const readable = (forbidden === undefined ? id : id.replace(forbidden, '_')).replace(
    /[^\x21-\x7e]/g,
    '_',
  );
  const head = readable.slice(0, Math.max(0, maxLength - HASH_CHARS - 1));
  const hash = shortHash(id, String(occurrence));
  return head === '' ? `call_${hash}` : `${head}_${hash}`;
};

/** A name that fits the pattern of tool names: odd characters replaced, the end cut off. */
export const sanitizeName = (name: string, { maxLength, forbidden }: IdShape): string => {
  const clean = forbidden === undefined ? name : name.replace(forbidden, '_');
  return clean === '' ? 'tool' : clean.slice(0, maxLength);
};

/** Names that differ only where they were cut or replaced get a hash, so that none are alike. */
export const mapNames = (names: readonly string[], shape: IdShape): ReadonlyMap<string, string> => {
  const mapped = new Map<string, string>();
  const used = new Set<string>();
  const distinct = [...new Set(names)].sort();
  for (const name of distinct) {
    if (!isAllowed(name, shape)) continue;
    mapped.set(name, name);
    used.add(name);
  }
  for (const name of distinct) {
    if (mapped.has(name)) continue;
    let wire = sanitizeName(name, shape);
    for (let attempt = 0; used.has(wire); attempt += 1) {
      const head = wire.slice(0, shape.maxLength - HASH_CHARS - 1);
      wire = `${head}_${shortHash(name, String(attempt))}`;
    }
    mapped.set(name, wire);
    used.add(wire);
  }
  return mapped;
};
