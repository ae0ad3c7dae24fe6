const length = 4000;

/**
 * Texts on which patterns that try many ways take longest: long runs of one thing with an end that fits nothing. Besides common letters,
 * digits and blanks of what the patterns themselves name.
 */
export function hostileTexts(patterns: readonly string[]): readonly string[] {
  const own = patterns.flatMap((pattern) => {
    const literal = pattern.replace(/\\./g, "").replace(/[^\p{L}\p{N} @._-]/gu, "");
    return literal === "" ? [] : [literal, ...new Set(literal)];
  });
  const runs = ["a", "0", " ", "a ", "0 ", "a.", "a@", "-", ...own].slice(0, 100);
  return [...new Set(runs)].map((run) => `${run.repeat(Math.ceil(length / run.length))}\u0000`);
}
