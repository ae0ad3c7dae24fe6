import { labelsOf, type PromLine, readPromLine } from "./promLine";

/** One line of an exposition. A timestamp, if given, is dropped: the time of the request counts. */
export class PromSample {
  /** NaN and the infinities are legal values. */
  readonly value: number;
  readonly #text: string;
  readonly #from: number;
  readonly #to: number;
  #block: LabelBlock | undefined;

  constructor(text: string, { value, labelsFrom, labelsTo }: PromLine) {
    this.value = value;
    this.#text = text;
    this.#from = labelsFrom;
    this.#to = labelsTo;
  }

  /** Parsed at the first access: most samples are never accessed. */
  get block(): LabelBlock {
    this.#block ??= labelBlock(this.labelText);
    return this.#block;
  }

  get labels(): Readonly<Record<string, string>> {
    return this.block.labels;
  }

  /** The labels as they were written. */
  get labelText(): string {
    return this.#text.slice(this.#from, this.#to);
  }
}

/** A line that could not be read. */
export interface BadLine {
  /** Counted from 1. */
  readonly line: number;
  readonly reason: string;
  /** Its beginning. */
  readonly text: string;
}

/** A parsed exposition: samples by metric name, and what could not be read. */
export interface PromText {
  readonly byName: ReadonlyMap<string, readonly PromSample[]>;
  readonly badLines: number;
  /** The first of them. */
  readonly bad: readonly BadLine[];
}

const keptBadLines = 5;
const keptCharacters = 120;
/** A line with more characters is bad. The longest lines of engines, with all settings of a cache as labels, have some 2,000. */
export const mostLineCharacters = 65_536;
/** No line of more bytes has so few characters: UTF-8 takes at most three bytes for one UTF-16 unit. */
const mostLineBytes = 3 * mostLineCharacters;
const newline = 10;
const byteOrderMark = 0xfe_ff;

/**
 * Parses Prometheus' text format (0.0.4, and the quoted names of Prometheus 3) and OpenMetrics 1.0 as it arrives. Comment lines (HELP, TYPE,
 * EOF) are skipped: what a name means is decided by the mapping tables, since engines in use write TYPE lines that differ from the
 * sample names or none at all. A line that cannot be read is counted and skipped, never thrown on; memory does not grow with its length.
 */
export class PromParser {
  readonly #byName = new Map<string, PromSample[]>();
  readonly #bad: BadLine[] = [];
  readonly #line: PromLine = { bad: null, name: "", value: 0, labelsFrom: 0, labelsTo: 0 };
  /** Bytes of an unfinished line. */
  #rest: Uint8Array[] = [];
  #restBytes = 0;
  /** The present line is already too long. */
  #skipping = false;
  #badLines = 0;
  #lines = 0;
  /** The metric of the previous line, which is usually that of the next one too. */
  #lastName = "";
  #lastSamples: PromSample[] = [];

  /** Adds the next bytes, cut at any position, even inside a character. */
  write(bytes: Uint8Array): void {
    let from = 0;
    if (this.#skipping) {
      from = bytes.indexOf(newline) + 1;
      if (from === 0) return;
      this.#skipping = false;
    }
    const to = bytes.lastIndexOf(newline) + 1;
    if (to > from) {
      this.#rest.push(bytes.subarray(from, to));
      this.#flush();
      from = to;
    }
    this.#keep(bytes.subarray(from));
  }

  /** Adds whole lines. */
  writeLines(text: string): void {
    let at = this.#lines === 0 && text.charCodeAt(0) === byteOrderMark ? 1 : 0;
    while (at < text.length) {
      const found = text.indexOf("\n", at);
      const end = found === -1 ? text.length : found;
      this.#take(text, at, end);
      at = end + 1;
    }
  }

  /** The result; the last line needs no line end. */
  end(): PromText {
    this.#flush();
    return { byName: this.#byName, badLines: this.#badLines, bad: this.#bad };
  }

  #keep(bytes: Uint8Array): void {
    this.#restBytes += bytes.length;
    // The caller may reuse its memory for the next data.
    if (this.#restBytes <= mostLineBytes) this.#rest.push(Buffer.from(bytes));
    else {
      this.#skipping = true;
      this.#lines += 1;
      const beginning = Buffer.concat([...this.#rest, bytes.subarray(0, keptCharacters)]).toString("utf8");
      this.#isBad("too long", beginning.slice(0, keptCharacters));
      this.#rest = [];
      this.#restBytes = 0;
    }
  }

  #flush(): void {
    this.writeLines(Buffer.concat(this.#rest).toString("utf8"));
    this.#rest = [];
    this.#restBytes = 0;
  }

  #take(text: string, from: number, end: number): void {
    this.#lines += 1;
    if (end - from > mostLineCharacters) {
      this.#isBad("too long", text.slice(from, from + keptCharacters));
      return;
    }
    const line = this.#line;
    if (!readPromLine(text, from, end, line)) return;
    if (line.bad !== null) {
      this.#isBad(line.bad, text.slice(from, Math.min(end, from + keptCharacters)));
      return;
    }
    if (line.name !== this.#lastName) {
      this.#lastName = line.name;
      const known = this.#byName.get(line.name);
      this.#lastSamples = known ?? [];
      if (known === undefined) this.#byName.set(line.name, this.#lastSamples);
    }
    this.#lastSamples.push(new PromSample(text, line));
  }

  #isBad(reason: string, text: string): void {
    this.#badLines += 1;
    if (this.#bad.length < keptBadLines) this.#bad.push({ line: this.#lines, reason, text });
  }
}

/**
 * Parses a complete exposition.
 *
 * @returns the samples in order of appearance.
 * @example parsePromText('up{job="a"} 1\n').byName.get("up")?.[0]?.value // 1
 */
export function parsePromText(text: string): PromText {
  const parser = new PromParser();
  parser.writeLines(text);
  return parser.end();
}

/** The text between the braces of a sample. */
interface LabelBlock {
  readonly labels: Readonly<Record<string, string>>;
  /** Hash of the text: equal for equal texts, and almost never for different ones. */
  readonly hash: number;
}

/** Enough for all series of some engines; beyond it the cache is cleared. */
const mostKept = 4_096;

/** Longer texts are settings of a cache, which are written once. */
const mostCharacters = 256;

const known = new Map<string, LabelBlock>();

/** Parses a validated block of labels. Engines write the same ones at every scrape: those are parsed once. */
function labelBlock(text: string): LabelBlock {
  const kept = known.get(text);
  if (kept !== undefined) return kept;
  // A slice of a text would keep the whole text in memory.
  const own = Buffer.from(text, "utf16le").toString("utf16le");
  const block = { labels: labelsOf(own, 0, own.length), hash: hashOf(own) };
  if (own.length > mostCharacters) return block;
  if (known.size >= mostKept) known.clear();
  known.set(own, block);
  return block;
}

/** FNV-1a. */
function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at += 1) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  return hash >>> 0;
}
