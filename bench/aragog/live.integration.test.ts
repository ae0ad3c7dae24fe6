import { expect, it } from "vitest";
import { generatedWorkload } from "@/solver/workload/generated";
import { runAragog } from "./liveRun";
import { aragogSetup } from "./liveSetup";

it("serves a vote and a refinement under one model, rounds and a choice per program, and tells measured from simulated", {
  timeout: 120_000,
}, async () => {
  const { outcomes } = generatedWorkload({ prompts: 200, ladder: ["qwen2.5-3b", "qwen2.5-7b"], seed: 1 });
  const setup = aragogSetup({
    outcomes,
    texts: outcomes.promptIds.map((_, row) => `Question ${row} about ${row % 2 === 0 ? "rivers and weirs" : "towns and roads"}.`),
    ...{ gpus: [1, 1], programs: 12, load: 1.5, maxInFlight: 32, seed: 1 },
  });
  const { turns, searches } = await runAragog(setup, { timeScale: 20, modelPerturbation: "aragog" });
  for (const { turn, failures, measured, simulated } of turns) {
    expect([turn, failures]).toEqual([turn, []]);
    expect(measured.programsPerSecond).toBeGreaterThan(0);
    expect(simulated.shares.reduce((sum, share) => sum + share, 0)).toBeCloseTo(1);
    expect(measured.shares.reduce((sum, share) => sum + share, 0)).toBeCloseTo(1);
  }
  const [largest, ...choosing] = turns;
  expect([largest?.toldShare, largest?.measured.shares]).toEqual([null, [0, 1]]);
  expect(choosing.every(({ toldShare }) => toldShare !== null)).toBe(true);
  // There was one search for each program of the two policies that choose.
  expect(searches.whole + searches.partial + searches.none).toBe(2 * 12);
});
