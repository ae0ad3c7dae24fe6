import { expect, it } from "vitest";
import type { Plan } from "@/solver/plan/plan";
import { diffPlans } from "./diffPlans";

function plan(gpus: number, threshold: number, quality: number): Plan {
  return {
    deployment: [{ model: "small-8b", gpus, replicas: [{ tp: 1, pp: 1, count: gpus }] }],
    policy: { stages: [{ model: "small-8b" }, { model: "large-70b" }], thresholds: [threshold] },
    predictions: { quality, p95Seconds: 4 },
  } as unknown as Plan;
}

it("tells in words what a plan changes of deployment, thresholds and promises", () => {
  const lines = diffPlans(plan(2, 40, 84), plan(3, 55, 86));
  expect(lines.filter((line) => line.sign === "~").map((line) => [line.subject, line.text])).toEqual([
    ["small-8b", "2 × tp 1 on 2 GPUs → 3 × tp 1 on 3 GPUs"],
    ["threshold of small-8b", "40 → 55"],
    ["predicted quality", "84.0 → 86.0 (+2.0)"],
  ]);
});

it("finds nothing changed between a plan and itself", () => {
  const same = plan(2, 40, 84);
  expect(diffPlans(same, same).every((line) => line.sign === "=")).toBe(true);
});

it("names models that come and go", () => {
  const other = {
    ...plan(2, 40, 84),
    deployment: [{ model: "mid-27b", gpus: 1, replicas: [{ tp: 1, pp: 1, count: 1 }] }],
  } as unknown as Plan;
  const signs = diffPlans(plan(2, 40, 84), other).map((line) => `${line.sign}${line.subject}`);
  expect(signs).toContain("+mid-27b");
  expect(signs).toContain("-small-8b");
});
