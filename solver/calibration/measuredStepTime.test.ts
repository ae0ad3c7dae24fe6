import { expect, test } from "vitest";
import { gpuCards } from "../hardware/gpus";
import { modelCards } from "../hardware/models";
import { stepTime } from "../hardware/stepTime";
import { type MeasuredStep, measuredStepTime } from "./measuredStepTime";

const truth = stepTime(modelCards["llama-3.1-8b"]!, gpuCards["h100-sxm"]!, { tp: 1, pp: 1 });

const decodes: MeasuredStep[] = [1, 8, 64, 256].flatMap((sequences) =>
  [500, 2000].map((context) => {
    const kvTokens = sequences * context;
    return { prefillTokens: 0, sequences, kvTokens, seconds: truth.decodeBaseSeconds(sequences) + kvTokens * truth.secondsPerKvToken };
  }),
);
const prefills: MeasuredStep[] = [256, 1024, 4096, 8192].map((prefillTokens) => ({
  prefillTokens,
  sequences: 0,
  kvTokens: 0,
  seconds: truth.mixedStepSeconds({
    tokens: prefillTokens,
    prefillTokens,
    prefillPairs: (prefillTokens * (prefillTokens + 1)) / 2,
    kvTokensRead: 0,
    sequences: 1,
  }),
}));

function stepsOf(steps: readonly MeasuredStep[]) {
  const answer = measuredStepTime(steps, "steps.csv");
  if (answer.outcome !== "steps") throw new Error(answer.reason);
  return answer.stepTime;
}

test("measured steps give back what was measured, and lie near the truth between the points", () => {
  const steps = stepsOf([...decodes, ...prefills]);
  expect(steps.secondsPerKvToken).toBeCloseTo(truth.secondsPerKvToken, 12);
  for (const sequences of [1, 8, 64, 256]) expect(steps.decodeBaseSeconds(sequences)).toBeCloseTo(truth.decodeBaseSeconds(sequences), 9);
  for (const sequences of [4, 32, 128]) {
    expect(steps.decodeBaseSeconds(sequences) / truth.decodeBaseSeconds(sequences)).toBeCloseTo(1, 1);
  }
  const load = { tokens: 2048, prefillTokens: 2048, prefillPairs: 2048 * 1024, kvTokensRead: 0, sequences: 1 };
  expect(steps.mixedStepSeconds(load) / truth.mixedStepSeconds(load)).toBeCloseTo(1, 1);
  expect(steps.provenance).toEqual([{ kind: "measured", source: "steps.csv" }]);
});

test("no step gets shorter by carrying more, even where a measurement dips", () => {
  const dipped = decodes.map((step) => (step.sequences === 64 ? { ...step, seconds: step.seconds / 3 } : step));
  const steps = stepsOf([...dipped, ...prefills]);
  expect(steps.decodeBaseSeconds(64)).toBeGreaterThanOrEqual(steps.decodeBaseSeconds(8));
});

test("a table that cannot carry a step time is refused with what is missing", () => {
  const reason = (steps: readonly MeasuredStep[]): string => {
    const answer = measuredStepTime(steps, "steps.csv");
    return answer.outcome === "refused" ? answer.reason : "";
  };
  expect(reason(decodes.slice(0, 2))).toContain("two numbers of sequences");
  expect(reason([...decodes.filter((_, index) => index % 2 === 0), ...prefills])).toContain("what a cached token costs");
  expect(reason([...decodes, ...prefills.slice(0, 1)])).toContain("two numbers of prompt tokens");
});
