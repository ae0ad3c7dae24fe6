import { expect, it } from "vitest";
import { addConfiguration, emptySet } from "@/solver/workflow/configurationSet";
import { PredictionCounts } from "./predictionCounts";

const setOf = (...members: readonly number[]) => {
  const set = emptySet(9);
  for (const member of members) addConfiguration(set, member);
  return set;
};

it("counts searches by what came of them: those that verified nothing in time apart from those that no predictor could be asked", () => {
  const counts = new PredictionCounts();
  const took = { tookMs: 4, searchMs: 40 };
  counts.searched({ accurate: setOf(3, 8), whole: true, evaluated: 3, of: 9 }, took);
  counts.searched({ accurate: setOf(3, 8), whole: false, evaluated: 3, of: 9 }, took);
  counts.searched({ accurate: setOf(8), whole: false, evaluated: 0, of: 9 }, took);
  counts.searched(null, took);
  counts.searched(null, took);
  expect(counts.searches).toMatchObject({ whole: 1, partial: 1, none: 1, unasked: 2, meanMs: 4, meanBudgetMs: 40 });
});
