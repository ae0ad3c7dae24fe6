import { expect, test } from "vitest";
import { applyJudge } from "@/solver/workload/applyJudge";
import { generatedWorkload } from "@/solver/workload/generated";
import { judgeOutlooks } from "./judgeOutlook";

const workload = generatedWorkload({ prompts: 2000, seed: 4 });
const cascade = { models: ["qwen2.5-7b", "qwen2.5-32b"], thresholds: [50], startBelow: 0, saturation: [100, 20], requestsPerSecond: 50 };

test("a better judge gives more quality at the same threshold, and the judge planned with is among them", () => {
  const outlooks = judgeOutlooks(workload, cascade);
  expect(outlooks.map(({ auc }) => auc)).toEqual([0.5, 0.7, 0.8, 0.9, 1]);
  const quality = outlooks.map((outlook) => outlook.quality);
  expect(quality).toEqual([...quality].sort((a, b) => a - b));
  const planned = applyJudge(workload.outcomes, workload.judge);
  expect(planned.models.map(({ judged }) => judged)).toEqual(workload.outcomes.models.map(({ judged }) => judged));
});

test("loads follow the share of requests that a judge sends on", () => {
  for (const { share, busiestLoad } of judgeOutlooks(workload, cascade)) {
    expect(share[0]).toBe(1);
    expect(busiestLoad).toBeCloseTo(Math.max(0.5, ((share[1] ?? 0) * 50) / 20), 9);
  }
});

test("there is nothing to look at without a modelled judge", () => {
  expect(judgeOutlooks({ ...workload, judge: { kind: "measured" } }, cascade)).toEqual([]);
  expect(judgeOutlooks(workload, { ...cascade, models: ["qwen2.5-32b"], thresholds: [] })).toEqual([]);
});
