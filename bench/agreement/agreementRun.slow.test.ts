import { expect, it } from "vitest";
import { oraclePredictions } from "@/solver/workflow/oraclePredictions";
import { generatedWorkload } from "@/solver/workload/generated";
import { runAgreement } from "./agreementRun";
import { agreementSetup, policyOf } from "./setup";

const { outcomes } = generatedWorkload({ prompts: 200, ladder: ["qwen2.5-3b", "qwen2.5-7b"], seed: 1 });
const setup = agreementSetup({
  outcomes,
  prompts: Int32Array.from(outcomes.promptIds.keys()),
  workflowNames: ["planner-coder-qa-coder", "planner-coder", "coder"],
  ...{ programs: 30, load: 0.9, enginesEach: 1, maxInFlight: 8, seed: 1 },
});
const run = (modelPerturbation?: string) =>
  runAgreement({
    setup,
    policy: policyOf(setup, "Chimera"),
    prediction: { by: "clients", said: oraclePredictions(setup.sample) },
    modelPerturbation,
  });

it("serves programs through gateway and engines as fast as simulated: within 10 % where engines are their model, else within the plan's band", {
  timeout: 120_000,
}, async () => {
  const [alike, unlike] = await Promise.all([run(), run("a")]);
  for (const { failures, requests } of [alike, unlike]) {
    expect(failures).toEqual([]);
    expect(requests).toBe(setup.sample.program.length);
  }
  expect(alike.queueSeconds).toBeGreaterThan(0);
  expect(alike.ratio).toBeGreaterThan(0.9);
  expect(alike.ratio).toBeLessThan(1.1);
  expect(unlike.measuredSeconds).toBeGreaterThan(unlike.band.low);
  expect(unlike.measuredSeconds).toBeLessThan(unlike.band.high);
});
