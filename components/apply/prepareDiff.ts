import type { DiffLine } from "@/server/contracts/studio";

const engineWords = [
  ["+", "start"],
  ["-", "stop"],
  ["=", "stay"],
] as const;

/** A difference for reading: what the plan changes, apart from the single engines that follow from it. */
export interface ShownDiff {
  readonly changed: readonly DiffLine[];
  readonly unchanged: readonly DiffLine[];
  readonly engines: readonly DiffLine[];
  /** How many engines do what: `4 start, 2 stop`. */
  readonly enginesText: string;
}

/** Decides what of a difference is read at once and what is behind a word. */
export function prepareDiff(lines: readonly DiffLine[]): ShownDiff {
  const ofPlan = lines.filter((line) => line.of === "plan");
  const engines = lines.filter((line) => line.of === "engine");
  return {
    changed: ofPlan.filter((line) => line.sign !== "="),
    unchanged: ofPlan.filter((line) => line.sign === "="),
    engines,
    enginesText: engineWords
      .map(([sign, word]) => ({ word, count: engines.filter((line) => line.sign === sign).length }))
      .filter(({ count }) => count > 0)
      .map(({ word, count }) => `${count} ${word}`)
      .join(", "),
  };
}
