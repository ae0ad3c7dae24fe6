import { expect, it } from "vitest";
import { secondsAt } from "@/solver/judging/judgeTime";
import { generatedWorkload } from "@/solver/workload/generated";
import { atWorkload } from "./atWorkload";

const workload = generatedWorkload({ prompts: 200, seed: 2 });
const variation = { tokens: 100, lengthShare: 0.5, logSpread: 0.2 };
const judge = { kind: "fixed", secondsPerCall: 0.1, usdPerCall: 0, variation, source: { kind: "measured-at-attach" } } as const;

it("gives a measured judge the mean of a workload's lengths, so that every length takes what was measured of it", () => {
  const { secondsPerCall, variation: there } = atWorkload(judge, workload);
  if (there === undefined) throw new Error("the variation is lost");
  expect(there.tokens).toBeGreaterThan(100);
  expect(secondsPerCall).toBeGreaterThan(0.1);
  for (const tokens of [1, 50, 100, 700, 3000])
    expect(secondsAt(secondsPerCall, there, tokens)).toBeCloseTo(secondsAt(0.1, variation, tokens), 9);
});

it("leaves a mean that was entered, and times that do not grow", () => {
  const entered = atWorkload({ ...judge, source: { kind: "entered" } }, workload);
  expect(entered.secondsPerCall).toBe(0.1);
  expect(atWorkload({ ...judge, variation: { ...variation, lengthShare: 0 } }, workload).secondsPerCall).toBe(0.1);
  const { variation: _, ...steady } = judge;
  expect(atWorkload(steady, workload)).toEqual(steady);
});
