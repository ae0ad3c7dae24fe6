/** The data that determines the stratum of a prompt. */
export interface PromptFacts {
  /** Empty: not known. */
  readonly category: string;
  readonly characters: number;
  /** Unix milliseconds; null: not known. */
  readonly atMs: number | null;
}

export type Stratifier = "category" | "length" | "time";

/** For prompts whose category is not known. */
export const NO_CATEGORY = "no category";

/** Categories beyond those that are counted separately. */
export const OTHERS = "others";

const SHORTEST_CHARACTERS = 64;
const LONGEST_DOUBLING = 40;
const HOURS = 4;
const HOUR_MS = 3_600_000;

/** Computed once: it is needed for every line of a file. */
const lengthBands = Array.from({ length: LONGEST_DOUBLING }, (_, doubling) => {
  const from = 2 ** doubling;
  if (from < SHORTEST_CHARACTERS) return `under ${SHORTEST_CHARACTERS} characters`;
  return `${from.toLocaleString("en")} to ${(2 * from - 1).toLocaleString("en")} characters`;
});
const hourBands = Array.from({ length: 24 / HOURS }, (_, band) => {
  const hour = (value: number): string => String(value).padStart(2, "0");
  return `${hour(band * HOURS)}:00 to ${hour((band + 1) * HOURS)}:00 UTC`;
});

/** Its band of doubling lengths, in words. */
export function lengthBand(characters: number): string {
  return lengthBands[Math.floor(Math.log2(Math.max(1, characters)))] ?? "longer";
}

/** Its four hours of the day in UTC, in words. */
export function hourBand(atMs: number | null): string {
  if (atMs === null) return "no time";
  const hour = ((Math.floor(atMs / HOUR_MS) % 24) + 24) % 24;
  return hourBands[Math.floor(hour / HOURS)] ?? "";
}

/**
 * Name of the stratum of a prompt: its category if that is one of those counted separately, its length in bands of doubling characters, its
 * time of the day in UTC in bands of four hours; `all` by none of them.
 */
export function stratumOf(facts: PromptFacts, by: readonly Stratifier[], categories: ReadonlySet<string>): string {
  const { category, characters, atMs } = facts;
  const known = category === "" ? NO_CATEGORY : categories.has(category) ? category : OTHERS;
  const parts = [
    ...(by.includes("category") ? [known] : []),
    ...(by.includes("length") ? [lengthBand(characters)] : []),
    ...(by.includes("time") ? [hourBand(atMs)] : []),
  ];
  return parts.length === 0 ? "all" : parts.join(", ");
}
