/** A text under its key, as it is matched. */
interface Indexed {
  readonly key: string;
  readonly text: string;
}

/**
 * An index of texts by runs of three characters. Plain data, so that a checkpoint can hold it; it can
 * be rebuilt from the texts at any time. Only functions of this module change it.
 */
export interface TrigramIndex {
  /** Store position up to which texts were indexed; empty before the first. */
  position: string;
  /** By number; null where a text was removed. Numbers are never used again. */
  readonly documents: (Indexed | null)[];
  readonly numberOf: Map<string, number>;
  /** Gram to the numbers of the texts that hold it, ascending. */
  readonly postings: Map<string, number[]>;
  /** First character to the grams that begin with it: short queries look grams up by prefix. */
  readonly grams: Map<string, string[]>;
}

export const emptyIndex = (): TrigramIndex => ({
  position: '',
  documents: [],
  numberOf: new Map(),
  postings: new Map(),
  grams: new Map(),
});

/**
 * The form in which texts are compared: NFKC, lower case, one form of the Greek sigma. For matching
 * only; what is shown is the text as it was said.
 */
export const matchingForm = (text: string): string =>
  text.normalize('NFKC').toLowerCase().normalize('NFKC').replaceAll('ς', 'σ');

const GRAM = 3;

/** Runs of three characters; the last two begin at the end and are shorter, so that each position has one. */
const gramsOf = (text: string): ReadonlySet<string> => {
  const grams = new Set<string>();
  let [first, second] = ['', ''];
  // Two characters behind: a gram is complete when its third character is seen.
  for (const third of text) {
    if (first !== '') grams.add(first + second + third);
    [first, second] = [second, third];
  }
  if (first !== '') grams.add(first + second);
  if (second !== '') grams.add(second);
  return grams;
};

const firstCharacter = (gram: string): string => {
  const [first = ''] = gram;
  return first;
};

const addPosting = (index: TrigramIndex, gram: string, number: number): void => {
  const posting = index.postings.get(gram);
  if (posting !== undefined) {
    posting.push(number);
    return;
  }
  index.postings.set(gram, [number]);
  const first = firstCharacter(gram);
  const siblings = index.grams.get(first);
  if (siblings === undefined) index.grams.set(first, [gram]);
  else siblings.push(gram);
};

const dropGram = (index: TrigramIndex, gram: string): void => {
  index.postings.delete(gram);
  const first = firstCharacter(gram);
  const rest = (index.grams.get(first) ?? []).filter((other) => other !== gram);
  if (rest.length === 0) index.grams.delete(first);
  else index.grams.set(first, rest);
};

/** Place of `number` in an ascending list; -1 when it is not there. */
const placeIn = (posting: readonly number[], number: number): number => {
  let [low, high] = [0, posting.length - 1];
  while (low <= high) {
    const middle = (low + high) >> 1;
    const found = posting[middle] ?? 0;
    if (found === number) return middle;
    if (found < number) low = middle + 1;
    else high = middle - 1;
  }
  return -1;
};

/** Takes a text out, and everything that the index held of it. */
export const removeText = (index: TrigramIndex, key: string): void => {
  const number = index.numberOf.get(key);
  const document = number === undefined ? undefined : index.documents[number];
  if (number === undefined || document === undefined || document === null) return;
  for (const gram of gramsOf(document.text)) {
    const posting = index.postings.get(gram) ?? [];
    const place = placeIn(posting, number);
    if (place >= 0) posting.splice(place, 1);
    if (posting.length === 0) dropGram(index, gram);
  }
  index.numberOf.delete(key);
  index.documents[number] = null;
};

/** Indexes a text; under a known key it takes the place of the text before. */
export const addText = (index: TrigramIndex, key: string, text: string): void => {
  const form = matchingForm(text);
  const known = index.documents[index.numberOf.get(key) ?? -1];
  if (known?.text === form) return;
  removeText(index, key);
  if (form === '') return;
  const number = index.documents.length;
  index.documents.push({ key, text: form });
  index.numberOf.set(key, number);
  for (const gram of gramsOf(form)) addPosting(index, gram, number);
};

/** Notes how far the feed of texts has come. */
export const indexedUpTo = (index: TrigramIndex, position: string): void => {
  index.position = position;
};

const shortCandidates = (index: TrigramIndex, query: string): readonly number[] => {
  const numbers = new Set<number>();
  for (const gram of index.grams.get(firstCharacter(query)) ?? []) {
    if (!gram.startsWith(query)) continue;
    for (const number of index.postings.get(gram) ?? []) numbers.add(number);
  }
  return [...numbers].sort((a, b) => a - b);
};

const longCandidates = (index: TrigramIndex, characters: readonly string[]): readonly number[] => {
  const postings: (readonly number[])[] = [];
  for (let at = 0; at + GRAM <= characters.length; at += 1) {
    const posting = index.postings.get(characters.slice(at, at + GRAM).join(''));
    if (posting === undefined) return [];
    postings.push(posting);
  }
  const [rarest = [], ...others] = postings.sort((a, b) => a.length - b.length);
  return rarest.filter((number) => others.every((posting) => placeIn(posting, number) >= 0));
};

export interface SearchOptions {
  /** At most this many hits; 50 unless told. */
  readonly limit?: number;
  /** `next` of the answer before, for the hits that follow. */
  readonly before?: number;
}

export interface SearchAnswer {
  /** Keys of texts that hold the query, the latest indexed first. */
  readonly keys: readonly string[];
  /** Present when more follow. */
  readonly next?: number;
  /** Store position up to which texts are known. */
  readonly position: string;
}

/**
 * Texts that hold `query` as a literal run of characters: no operators, no wildcards, no quoting
 * (B63). One and two characters are enough; an empty query finds nothing.
 */
export const searchTexts = (
  index: TrigramIndex,
  query: string,
  { limit = 50, before = Number.MAX_SAFE_INTEGER }: SearchOptions = {},
): SearchAnswer => {
  const { position } = index;
  const form = matchingForm(query);
  const characters = Array.from(form);
  if (characters.length === 0) return { keys: [], position };
  const candidates =
    characters.length < GRAM ? shortCandidates(index, form) : longCandidates(index, characters);
  const keys: string[] = [];
  let last = before;
  for (let at = candidates.length - 1; at >= 0; at -= 1) {
    const number = candidates[at] ?? 0;
    const document = index.documents[number];
    if (number >= before || document?.text.includes(form) !== true) continue;
    if (keys.length >= limit) return { keys, next: last, position };
    keys.push(document.key);
    last = number;
  }
  return { keys, position };
};
