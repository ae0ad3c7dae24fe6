import { expect, it } from "vitest";
import { testAgent, testDistribution } from "../testing/testWorkflows";
import { prepareDistributions } from "./prepareDistributions";

const empty = testDistribution(0, 0, { observations: 0, state: "empty", quantilesSeconds: [], modeSeconds: null });

it("tells each distribution's state in a word, and of one without observations that there is nothing", () => {
  const groups = prepareDistributions(
    testAgent("a/b", {
      remaining: testDistribution(1, 3, { state: "drifted" }),
      request: [
        { model: "small", ...testDistribution(1, 2, { state: "learning", observations: 1 }) },
        { model: "small > large", ...empty },
      ],
    }),
  );
  const rows = groups.flatMap((group) => group.rows);
  expect(groups.map(({ key }) => key)).toEqual(["remaining", "request"]);
  expect(rows.map(({ models, word, observations, median }) => [models, word, observations, median])).toEqual([
    [null, "drifted", "64 observations", "2.00\u00a0s"],
    [["small"], "learning", "1 observation", "1.50\u00a0s"],
    [["small", "large"], "empty", "0 observations", "–"],
  ]);
  expect(rows[2]?.box).toBeNull();
});
