/** One line of a Prometheus exposition. A timestamp, where one is given, is dropped: what counts is when we asked. */
export interface PromSample {
  readonly labels: Readonly<Record<string, string>>;
  /** NaN and the infinities are legal values. */
  readonly value: number;
}

/** A parsed exposition: samples by metric name, and how many lines could not be read. */
export interface PromText {
  readonly byName: ReadonlyMap<string, readonly PromSample[]>;
  readonly badLines: number;
}

/** name, label block, value, timestamp; what follows a `#` is an OpenMetrics exemplar. Label values may hold `}` and `,`. */
const SAMPLE_LINE =
  /^\s*([a-zA-Z_:][a-zA-Z0-9_:]*)\s*(?:\{((?:[^"{}]|"(?:[^"\\]|\\.)*")*)\}\s*|\s)\s*([^\s#]+)(?:\s+([^\s#]+))?\s*(?:#.*)?$/;
const LABEL = /\s*([a-zA-Z_][a-zA-Z0-9_]*)\s*=\s*"((?:[^"\\]|\\.)*)"\s*(?:,\s*|$)/y;
const ESCAPES: Readonly<Record<string, string>> = { n: "\n", '"': '"', "\\": "\\" };
const NO_LABELS: Readonly<Record<string, string>> = {};

/**
 * Parses Prometheus or OpenMetrics text. Comment lines (HELP, TYPE, EOF) are skipped: what a name means is decided by the
 * mapping tables, since engines in use write TYPE lines that differ from the sample names or none at all.
 *
 * @returns the samples in order of appearance; a line that cannot be read is counted and skipped, never thrown on.
 * @example parsePromText('up{job="a"} 1\n').byName.get("up") // [{ labels: { job: "a" }, value: 1 }]
 */
export function parsePromText(text: string): PromText {
  const byName = new Map<string, PromSample[]>();
  let badLines = 0;
  for (const line of text.split("\n")) {
    const start = line.trimStart();
    if (start === "" || start.startsWith("#")) continue;
    const parsed = parseLine(line);
    if (parsed === undefined) {
      badLines += 1;
      continue;
    }
    const known = byName.get(parsed.name);
    if (known === undefined) byName.set(parsed.name, [parsed.sample]);
    else known.push(parsed.sample);
  }
  return { byName, badLines };
}

function parseLine(line: string): { readonly name: string; readonly sample: PromSample } | undefined {
  const match = SAMPLE_LINE.exec(line);
  if (match === null) return undefined;
  const [, name = "", block, valueText = "", timestamp] = match;
  const value = parseValue(valueText);
  const labels = block === undefined ? NO_LABELS : parseLabels(block);
  if (value === undefined || labels === undefined) return undefined;
  if (timestamp !== undefined && !Number.isFinite(Number(timestamp))) return undefined;
  return { name, sample: { labels, value } };
}

function parseLabels(block: string): Readonly<Record<string, string>> | undefined {
  const labels: Record<string, string> = {};
  LABEL.lastIndex = 0;
  while (LABEL.lastIndex < block.length) {
    const match = LABEL.exec(block);
    if (match === null) return block.trim() === "" ? labels : undefined;
    const [, name = "", raw = ""] = match;
    // An unknown escape stands for its character, as Prometheus' own parser has it.
    labels[name] = raw.includes("\\") ? raw.replace(/\\(.)/g, (_, escaped: string) => ESCAPES[escaped] ?? escaped) : raw;
  }
  return labels;
}

function parseValue(text: string): number | undefined {
  const value = Number(text);
  if (!Number.isNaN(value)) return value;
  if (/^[+-]?inf(inity)?$/i.test(text)) return text.startsWith("-") ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY;
  return /^nan$/i.test(text) ? Number.NaN : undefined;
}
