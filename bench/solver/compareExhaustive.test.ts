import { expect, it } from "vitest";
import { unprunedTable } from "./compareExhaustive";

it("shows each instance's plan beside the best of every shape", () => {
  const one = {
    ...{ seed: 4, planned: "a 4 x tp1", best: "a 1 x tp4", plannedSeconds: 2.05, bestSeconds: 2 },
    ...{ plannedWholeSeconds: 1.9, bestWholeSeconds: 2, routings: 3, plans: 90, wholeSimulationSeconds: 0.1 },
    ...{ planningSeconds: 0.5, exhaustiveSeconds: 6 },
  };
  expect(unprunedTable([one])).toContain("| 4 | a 4 x tp1 | a 1 x tp4 | 1.025 | 0.950 | 12 |");
});
