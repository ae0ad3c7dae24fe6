/** A judge's reply: 0..100, or why it has no valid score. */
export type ReplyScore = { readonly score: number } | { readonly unscored: "empty" | "no-number" | "out-of-range" };

/** Parts of a reply that describe its scale are no score: "0-100", "out of 100", and "/100" behind a number. */
const scales =
  /(?<![\d.,])[01] ?(?:[-–—]|to|and|through|\.\.) ?100(?![.,]?\d)|\b(?:out|scale) of 100(?![.,]?\d)|(?<=\d ?%? ?)(?:\/|\bof) ?100(?![.,]?\d)/gi;

const numbers = /(?:(?<![\w.,)\]])-)?(?:\d+(?:[.,]\d+)*|\.\d+)/g;

/** The start of a list or of steps whose rest is prose, or was cut off. */
const firstPoint = /^\W*(?:1[.):] \S|(?:step|part|point|criterion) 1\b)/i;

/**
 * The score in a judge's reply: its only number, in 0..100; decimals are rounded, scales ("/100", "0-100") left out. Gateway and profile
 * use this same rule. If there are several numbers, or one that may be a share of 1 or the first point of a list, the intended one is not
 * guessed. A part in which a judge thinks aloud does not count.
 */
export function readScore(reply: string): ReplyScore {
  const said = afterThinking(reply).normalize("NFKC").replace(/\s+/g, " ");
  if (said === "") return { unscored: "empty" };
  const found = new Set(said.replace(/−/g, "-").replace(scales, " ").match(numbers));
  const [only] = found;
  if (only === undefined || found.size > 1 || firstPoint.test(said)) return { unscored: "no-number" };
  const value = meant(only);
  if (value === null) return { unscored: "no-number" };
  const score = Math.round(value);
  return value >= 0 && value <= 100 ? { score: Math.abs(score) } : { unscored: "out-of-range" };
}

/** null: not in a form that means one number only. */
function meant(written: string): number | null {
  if (/^-?\d+$/.test(written)) return Number(written);
  if (/^-?\d{1,3}(?:,\d{3})+$/.test(written)) return Number(written.replaceAll(",", ""));
  if (!/^-?\d*\.\d+$/.test(written)) return null;
  const value = Number(written);
  // Could be on the scale 0 to 1 as well as 0 to 100.
  return value > 0 && value <= 1 ? null : value;
}

const verdicts: Readonly<Record<string, number>> = { a: 100, b: 0, c: 50, tie: 50, draw: 50, equal: 50 };

/** Whole replies only: prose that weighs both contains either letter. */
const bareVerdict =
  /^(?:(?:final |my )?(?:verdict|answer|winner|choice|better)(?: is)?\s*:?\s*)?(?:answer |option )?(a|b|tie|draw|equal)(?: is better)?$/;

/** The format of MT-bench's judges, also after an explanation: [[A]], [[B]], [[C]] for a tie. */
const bracketed = /\[\[(a|b|c|tie)\]\]/g;

/** A judge's verdict on two answers, as the quality of A: 100 it is better, 50 neither is, 0 B is better. */
export function readVerdict(reply: string): ReplyScore {
  const said = afterThinking(reply).toLowerCase();
  if (said === "") return { unscored: "empty" };
  const named = new Set([...said.matchAll(bracketed)].map(([, verdict]) => verdict));
  const [only] = named.size === 1 ? named : [];
  const bare = said
    .replace(/[*_`"'“”()[\].!]/g, "")
    .replace(/\s+/g, " ")
    .trim();
  const verdict = only ?? bareVerdict.exec(bare)?.[1];
  const score = verdict === undefined ? undefined : verdicts[verdict];
  return score === undefined ? { unscored: "no-number" } : { score };
}

/** The text after thinking; thinking that continues to the end, perhaps cut off, leaves nothing. */
export function afterThinking(reply: string): string {
  const end = reply.lastIndexOf("</think>");
  const said = end < 0 ? reply : reply.slice(end + "</think>".length);
  const begun = said.indexOf("<think>");
  return (begun < 0 ? said : said.slice(0, begun)).trim();
}
