import { patternText, UnmetSchema } from "./patternText";

/** Characters of one text: more are not written. */
const MOST_CHARACTERS = 10_000;

/** A text of each format that can be checked; other formats say nothing about the text. */
const FORMATS: Readonly<Record<string, string>> = {
  "date-time": "2026-01-01T00:00:00Z",
  date: "2026-01-01",
  time: "00:00:00Z",
  duration: "P1D",
  email: "text@example.com",
  "idn-email": "text@example.com",
  hostname: "example.com",
  "idn-hostname": "example.com",
  ipv4: "127.0.0.1",
  ipv6: "::1",
  uri: "https://example.com/",
  "uri-reference": "https://example.com/",
  iri: "https://example.com/",
  uuid: "00000000-0000-4000-8000-000000000000",
  "json-pointer": "/text",
  regex: ".*",
};

/**
 * A text that satisfies a schema of texts.
 * @param free the text where the schema leaves it free, shortened or repeated to the length that it asks for.
 * @throws UnmetSchema if there is no plain one.
 */
export function textIn({ format, pattern, minLength, maxLength }: Readonly<Record<string, unknown>>, free: string): string {
  const least = typeof minLength === "number" ? minLength : 0;
  const most = typeof maxLength === "number" ? maxLength : Number.POSITIVE_INFINITY;
  if (least > MOST_CHARACTERS) throw new UnmetSchema(`The schema asks for a text of more than ${MOST_CHARACTERS} characters.`);
  const fixed = typeof pattern === "string" ? patternText(pattern, least) : FORMATS[String(format)];
  if (fixed === undefined) return free.padEnd(least, free === "" ? "." : free).slice(0, most);
  if (fixed.length < least || fixed.length > most) throw new UnmetSchema("Emulated engines write no text of that form and length.");
  return fixed;
}

/** What a schema of numbers asks for. */
interface Bounds {
  readonly minimum?: unknown;
  readonly maximum?: unknown;
  readonly exclusiveMinimum?: unknown;
  readonly exclusiveMaximum?: unknown;
  readonly multipleOf?: unknown;
}

/**
 * A number within the bounds: 0, or else the one nearest to it.
 * @throws UnmetSchema if none is found.
 */
export function numberIn(bounds: Bounds, { isWhole }: { readonly isWhole: boolean }): number {
  const [minimum, maximum, above, below] = [bounds.minimum, bounds.maximum, bounds.exclusiveMinimum, bounds.exclusiveMaximum].map(
    (value) => (typeof value === "number" ? value : null),
  );
  const fits = (value: number): boolean =>
    value >= (minimum ?? value) && value <= (maximum ?? value) && value > (above ?? value - 1) && value < (below ?? value + 1);
  if (fits(0)) return 0;
  const low = Math.max(minimum ?? Number.NEGATIVE_INFINITY, above ?? Number.NEGATIVE_INFINITY);
  const high = Math.min(maximum ?? Number.POSITIVE_INFINITY, below ?? Number.POSITIVE_INFINITY);
  const step = stepOf(bounds.multipleOf, isWhole);
  const nearest = low > 0 || (low === 0 && high > 0) ? low : high;
  const away = nearest === low ? 1 : -1;
  const candidates =
    step === null
      ? [nearest, (low + high) / 2, nearest + away]
      : [0, away].map((steps) => step * ((away > 0 ? Math.ceil(nearest / step) : Math.floor(nearest / step)) + steps));
  const found = candidates.find((value) => Number.isFinite(value) && fits(value));
  if (found === undefined) throw new UnmetSchema("Emulated engines find no number within the bounds of the schema.");
  return found;
}

/** What the number must be a multiple of; null: of nothing. */
function stepOf(multipleOf: unknown, isWhole: boolean): number | null {
  if (typeof multipleOf !== "number" || multipleOf <= 0) return isWhole ? 1 : null;
  if (!isWhole || Number.isInteger(multipleOf)) return multipleOf;
  if (Number.isInteger(1 / multipleOf)) return 1;
  throw new UnmetSchema(`Emulated engines write no whole multiples of ${multipleOf}.`);
}
