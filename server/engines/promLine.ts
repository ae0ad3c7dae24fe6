/** Positions of the parts of a good line in its text; for a bad one only why it is bad. */
export interface PromLine {
  /** Why the line cannot be read; null if it can. */
  bad: string | null;
  name: string;
  value: number;
  /** The label block without its braces; from = to if there is none. */
  labelsFrom: number;
  labelsTo: number;
}

const nameStart = 1;
const nameRest = 2;
const labelStart = 4;
const labelRest = 8;
const blank = 16;
const numeric = 32;

/** The class of each ASCII character. */
const classes = new Uint8Array(128);
for (let code = 0; code < 128; code += 1) {
  const character = String.fromCharCode(code);
  if (/[a-zA-Z_]/.test(character)) classes[code] = nameStart | nameRest | labelStart | labelRest;
  if (character === ":") classes[code] = nameStart | nameRest;
  if (/[0-9]/.test(character)) classes[code] = nameRest | labelRest | numeric;
  if (/[-+.]/.test(character)) classes[code] = numeric;
  if (character === "e" || character === "E") classes[code] = (classes[code] ?? 0) | numeric;
  if (/[ \t\r]/.test(character)) classes[code] = blank;
}

const quote = 34;
const hash = 35;
const comma = 44;
const equals = 61;
const backslash = 92;
const open = 123;
const close = 125;

const words: Readonly<Record<string, number>> = {
  nan: Number.NaN,
  inf: Number.POSITIVE_INFINITY,
  "+inf": Number.POSITIVE_INFINITY,
  "-inf": Number.NEGATIVE_INFINITY,
  infinity: Number.POSITIVE_INFINITY,
  "+infinity": Number.POSITIVE_INFINITY,
  "-infinity": Number.NEGATIVE_INFINITY,
};

const isA = (text: string, at: number, kind: number): boolean => ((classes[text.charCodeAt(at)] ?? 0) & kind) !== 0;

/** The first position from `from` on that is not of the kind. */
function past(text: string, from: number, end: number, kind: number): number {
  let at = from;
  while (at < end && isA(text, at, kind)) at += 1;
  return at;
}

const blanks = (text: string, from: number, end: number): number => past(text, from, end, blank);

/** The quote that closes the one before `from`; `end` if there is none. */
function closingQuote(text: string, from: number, end: number): number {
  let at = from;
  while (at < end) {
    const code = text.charCodeAt(at);
    if (code === quote) return at;
    at += code === backslash ? 2 : 1;
  }
  return end;
}

/**
 * Reads the sample in `text` from `from` to `end` into `line`: name, labels, value, and a timestamp and an OpenMetrics exemplar, which are
 * ignored. Names may be quoted among the labels, as Prometheus 3 writes those with characters outside of `[a-zA-Z0-9_:]`.
 *
 * @returns false for a line that holds no sample: a blank one or a comment.
 */
export function readPromLine(text: string, from: number, end: number, line: PromLine): boolean {
  let at = blanks(text, from, end);
  if (at === end || text.charCodeAt(at) === hash) return false;
  line.bad = null;
  line.name = "";
  const nameAt = at;
  if (isA(text, at, nameStart)) at = past(text, at, end, nameRest);
  if (at > nameAt) line.name = text.slice(nameAt, at);
  const named = at;
  at = blanks(text, at, end);
  line.labelsFrom = at;
  line.labelsTo = at;
  if (text.charCodeAt(at) === open && at < end) {
    line.labelsFrom = at + 1;
    at = readLabels(text, end, line);
    if (line.bad !== null) return true;
    at = blanks(text, at, end);
  } else if (at === named) {
    line.bad = line.name === "" ? "no metric name" : "no value";
    return true;
  }
  line.bad = line.name === "" ? "no metric name" : readNumbers(text, at, end, line);
  return true;
}

/** Checks the labels, and finds the name if it is among them. Returns the position after the closing brace. */
function readLabels(text: string, end: number, line: PromLine): number {
  const fail = (reason: string): number => {
    line.bad = reason;
    return end;
  };
  let at = line.labelsFrom;
  for (;;) {
    at = blanks(text, at, end);
    if (at >= end) return fail("labels without an end");
    if (text.charCodeAt(at) === close) break;
    const from = at;
    const quoted = text.charCodeAt(at) === quote;
    if (quoted) {
      at = closingQuote(text, at + 1, end) + 1;
      if (at > end) return fail("a quote without an end");
    } else {
      if (!isA(text, at, labelStart)) return fail("no label name");
      at = past(text, at, end, labelRest);
    }
    const to = at;
    at = blanks(text, at, end);
    if (at < end && text.charCodeAt(at) === equals) {
      at = blanks(text, at + 1, end);
      if (at >= end || text.charCodeAt(at) !== quote) return fail("a label value without quotes");
      at = closingQuote(text, at + 1, end) + 1;
      if (at > end) return fail("a quote without an end");
    } else if (quoted && line.name === "") line.name = unescaped(text.slice(from + 1, to - 1));
    else return fail("a label without a value");
    at = blanks(text, at, end);
    if (at >= end) return fail("labels without an end");
    const code = text.charCodeAt(at);
    if (code === comma) at += 1;
    else if (code !== close) return fail("no comma between labels");
  }
  line.labelsTo = at;
  return at + 1;
}

/** Reads value and timestamp; text after a `#` is an exemplar. Returns why that is impossible; null if it is possible. */
function readNumbers(text: string, from: number, end: number, line: PromLine): string | null {
  const valueEnd = tokenEnd(text, from, end);
  if (valueEnd === from) return "no value";
  const value = numberOf(text, from, valueEnd);
  if (value === undefined) return "a value that is no number";
  line.value = value;
  const at = blanks(text, valueEnd, end);
  if (at === end || text.charCodeAt(at) === hash) return null;
  const timeEnd = tokenEnd(text, at, end);
  if (!Number.isFinite(numberOf(text, at, timeEnd))) return "a timestamp that is no number";
  const last = blanks(text, timeEnd, end);
  return last === end || text.charCodeAt(last) === hash ? null : "more than a value and a timestamp";
}

function tokenEnd(text: string, from: number, end: number): number {
  let at = from;
  while (at < end && text.charCodeAt(at) !== hash && !isA(text, at, blank)) at += 1;
  return at;
}

function numberOf(text: string, from: number, end: number): number | undefined {
  if (past(text, from, end, numeric) < end) return words[text.slice(from, end).toLowerCase()];
  const value = Number(text.slice(from, end));
  // For such characters Number gives NaN only if they are no number.
  return Number.isNaN(value) ? undefined : value;
}

const escapes: Readonly<Record<string, string>> = { n: "\n", '"': '"', "\\": "\\" };

/** An unknown escape represents its character, as in Prometheus' own parser. */
const unescaped = (raw: string): string =>
  raw.includes("\\") ? raw.replace(/\\(.)/gs, (_, escaped: string) => escapes[escaped] ?? escaped) : raw;

/** The labels of a validated block. */
export function labelsOf(text: string, from: number, end: number): Readonly<Record<string, string>> {
  // Without a prototype any name can be a label.
  const labels: Record<string, string> = Object.create(null);
  let at = from;
  for (;;) {
    at = blanks(text, at, end);
    if (at >= end) return labels;
    const quoted = text.charCodeAt(at) === quote;
    const to = quoted ? closingQuote(text, at + 1, end) : past(text, at, end, labelRest);
    const name = quoted ? unescaped(text.slice(at + 1, to)) : text.slice(at, to);
    at = blanks(text, quoted ? to + 1 : to, end);
    if (text.charCodeAt(at) === equals && at < end) {
      const valueFrom = blanks(text, at + 1, end) + 1;
      const valueTo = closingQuote(text, valueFrom, end);
      labels[name] = unescaped(text.slice(valueFrom, valueTo));
      at = blanks(text, valueTo + 1, end);
    }
    // The comma.
    at += 1;
  }
}
