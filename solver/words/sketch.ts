/**
 * Words and word pairs of a text, hashed into buckets and counted: the input of predictors. With a dictionary much of the text can be
 * rebuilt by trying words and pairs, so it is never stored; `commonPart` may be. Buckets ascend.
 */
export interface Sketch {
  readonly buckets: Uint16Array;
  readonly counts: Uint16Array;
}

/** Number of buckets of a sketch. */
export const SKETCH_BUCKETS = 2 ** 15;

/** The first buckets count all words, numbers and signs; the others are hash buckets. */
export const CLASS_BUCKETS = 3;

/** Buckets from here on count pairs, those before it single tokens: a predictor that must not learn order leaves pairs out. */
export const FIRST_PAIR_BUCKET = 2 ** 14;

/**
 * Maximum numbers of words, numbers and signs that are read from a text, and of UTF-16 units that are searched for them: the rest of a
 * longer text is ignored, so that the work for any prompt is bounded.
 */
export const SKETCH_TOKENS = 2000;
const SKETCH_UNITS = 32_768;

/** Maximum number of letters of a word that are read. */
const MOST_LETTERS = 64;

const LARGEST_COUNT = 65_535;

const WORD = 0;
const NUMBER = 1;
const SIGN = 2;
const MARK = 3;
const SPACE = 4;

/** Kind of each ASCII sign. */
const asciiKinds = Uint8Array.from({ length: 128 }, (_, code) => kindOf(String.fromCharCode(code)));

/**
 * Counts the words, numbers and signs of a text and their pairs (1-2-grams), in lower case and hashed. A number counts by its length only:
 * an exercise is characterised by how many numbers it has, not by which.
 */
export function sketchOf(text: string): Sketch {
  const read = text.slice(0, SKETCH_UNITS).toLowerCase();
  const counts = new Uint16Array(SKETCH_BUCKETS);
  const touched: number[] = [];
  const add = (bucket: number): void => {
    const count = counts[bucket] ?? 0;
    if (count === 0) touched.push(bucket);
    if (count < LARGEST_COUNT) counts[bucket] = count + 1;
  };
  let before = 0;
  let tokens = 0;
  for (let at = 0; at < read.length && tokens < SKETCH_TOKENS; ) {
    const kind = kindAt(read, at);
    if (kind === SPACE) {
      at += 1;
      continue;
    }
    const end = endOf(read, at, kind);
    const hash = hashOf(read, at, Math.min(end, at + MOST_LETTERS), kind === NUMBER);
    add(kind === MARK ? SIGN : kind);
    add(wordBucketOf(hash));
    if (tokens > 0) add(pairBucketOf(Math.imul(before, 31) ^ hash));
    before = hash;
    tokens += 1;
    at = end;
  }
  const buckets = Uint16Array.from(touched).sort();
  return { buckets, counts: buckets.map((bucket) => counts[bucket] ?? 0) };
}

/** The end of a token: a word ends where no letter or mark follows, a number where no digit does, a sign after itself. */
function endOf(text: string, from: number, kind: number): number {
  let at = from + unitsAt(text, from);
  if (kind !== WORD && kind !== NUMBER) return at;
  for (; at < text.length; at += unitsAt(text, at)) {
    const next = kindAt(text, at);
    if (next !== kind && !(kind === WORD && next === MARK)) break;
  }
  return at;
}

const unitsAt = (text: string, at: number): number => ((text.codePointAt(at) ?? 0) > 0xffff ? 2 : 1);

function kindAt(text: string, at: number): number {
  const code = text.charCodeAt(at);
  return code < 128 ? (asciiKinds[code] ?? SIGN) : kindOf(String.fromCodePoint(text.codePointAt(at) ?? 0));
}

function kindOf(sign: string): number {
  if (/\p{L}/u.test(sign)) return WORD;
  if (/\p{N}/u.test(sign)) return NUMBER;
  if (/\p{M}/u.test(sign)) return MARK;
  return /\s/u.test(sign) ? SPACE : SIGN;
}

/** Numbers of words, numbers and signs in a sketch. */
export function classCounts({ buckets, counts }: Sketch): readonly [words: number, numbers: number, signs: number] {
  const classes: [number, number, number] = [0, 0, 0];
  for (let at = 0; at < CLASS_BUCKETS; at++) {
    const bucket = buckets[at] ?? SKETCH_BUCKETS;
    if (bucket < CLASS_BUCKETS) classes[bucket] = counts[at] ?? 0;
  }
  return classes;
}

/** FNV-1a over the UTF-16 units of a word, or as many zeros as a number has. */
function hashOf(text: string, from: number, to: number, isNumber: boolean): number {
  let hash = 0x811c9dc5;
  for (let at = from; at < to; at++) hash = Math.imul(hash ^ (isNumber ? 48 : text.charCodeAt(at)), 0x01000193);
  return hash;
}

const wordBucketOf = (hash: number): number => CLASS_BUCKETS + (mixedBits(hash) % (FIRST_PAIR_BUCKET - CLASS_BUCKETS));

const pairBucketOf = (hash: number): number => FIRST_PAIR_BUCKET + (mixedBits(hash) % (SKETCH_BUCKETS - FIRST_PAIR_BUCKET));

/** Murmur3's finaliser, so that words with similar letters get different buckets. */
function mixedBits(hash: number): number {
  let mixed = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
  return (mixed ^ (mixed >>> 16)) >>> 0;
}
