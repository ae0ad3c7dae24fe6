import type { DiffLine } from "@/server/contracts/studio";
import { signs } from "./signs";

const engineSigns = ["+", "-", "="] as const;

/** A difference for display: the changes of the plan, separate from the single engines that follow from them. */
export interface ShownDiff {
  readonly changed: readonly DiffLine[];
  readonly unchanged: readonly DiffLine[];
  readonly engines: readonly DiffLine[];
  /** How many engines do what: `4 added, 2 removed`. */
  readonly enginesText: string;
}

/** Decides which parts of a difference are shown at once and which on demand. */
export function prepareDiff(lines: readonly DiffLine[]): ShownDiff {
  const ofPlan = lines.filter((line) => line.of === "plan");
  const engines = lines.filter((line) => line.of === "engine");
  return {
    changed: ofPlan.filter((line) => line.sign !== "="),
    unchanged: ofPlan.filter((line) => line.sign === "="),
    engines,
    enginesText: engineSigns
      .map((sign) => ({ word: signs[sign].word, count: engines.filter((line) => line.sign === sign).length }))
      .filter(({ count }) => count > 0)
      .map(({ word, count }) => `${count} ${word}`)
      .join(", "),
  };
}
