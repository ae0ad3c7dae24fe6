/** What a judge's reply says: 0..100, or why it says nothing that counts. */
export type ReplyScore = { readonly score: number } | { readonly unscored: "empty" | "no-number" | "out-of-range" };

/**
 * The score in a judge's reply: its first integer, which has to lie in 0..100. The one rule of gateway and profile. A part in which a
 * judge thinks aloud does not count.
 */
export function readScore(reply: string): ReplyScore {
  const said = afterThinking(reply);
  if (said === "") return { unscored: "empty" };
  const digits = /-?\d+/.exec(said)?.[0];
  if (digits === undefined) return { unscored: "no-number" };
  const score = Number(digits);
  // "-0" is 0.
  return score >= 0 && score <= 100 ? { score: Math.abs(score) } : { unscored: "out-of-range" };
}

const verdicts: Readonly<Record<string, number>> = { a: 100, b: 0, c: 50, tie: 50, draw: 50, equal: 50 };

/** Whole replies only: in prose that weighs both, either letter stands somewhere. */
const bareVerdict =
  /^(?:(?:final |my )?(?:verdict|answer|winner|choice|better)(?: is)?\s*:?\s*)?(?:answer |option )?(a|b|tie|draw|equal)(?: is better)?$/;

/** The form that MT-bench taught judges, after an explanation too: [[A]], [[B]], [[C]] for a tie. */
const bracketed = /\[\[(a|b|c|tie)\]\]/g;

/** What a judge says of two answers, as the quality of the one called A: 100 it is better, 50 neither is, 0 the one called B is. */
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

/** What is said after thinking; thinking that goes on to the end, cut off perhaps, leaves nothing. */
function afterThinking(reply: string): string {
  const end = reply.lastIndexOf("</think>");
  const said = end < 0 ? reply : reply.slice(end + "</think>".length);
  const begun = said.indexOf("<think>");
  return (begun < 0 ? said : said.slice(0, begun)).trim();
}
