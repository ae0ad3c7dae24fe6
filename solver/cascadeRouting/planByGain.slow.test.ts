import { expect, it } from "vitest";
import { loadGlpkEngine } from "@/server/planning/planner/glpkEngine";
import type { PlanningSituation } from "@/solver/cascade/explore/situation";
import { explorerOf } from "@/solver/cascade/explore/situationExplorer";
import type { BuildPlanInput } from "@/solver/cascade/plan/planInput";
import type { Objective } from "@/solver/plan/plan";
import { withRouterScores } from "@/solver/workload/modelledRouter";
import { splitPrompts } from "@/solver/workload/split";
import { shortWorkload } from "@/solver/workload/testing/shortWorkload";
import { planByGain } from "./planByGain";

const LADDER = ["qwen2.5-3b", "qwen2.5-32b"];
const generated = shortWorkload({ prompts: 300, ladder: LADDER, seed: 5 });
const situation: PlanningSituation = {
  workload: { ...generated, outcomes: withRouterScores(generated.outcomes, { auc: 0.8, seed: 3 }) },
  workloadId: "generated",
  cluster: { id: "c", name: "c", kind: "described", gpu: "h100-sxm", nodes: [{ name: "node1", gpus: 4 }], usdPerGpuHour: 3 },
  requestsPerSecond: 20,
  confidence: { artefact: "ab".repeat(32) },
};
const objective: Objective = {
  kind: "latency-under-quality",
  latency: "end-to-end",
  percentile: 95,
  qualityFloor: 50,
  qualityConfidence: 0.9,
  latencyBudgetSeconds: null,
  maxGpus: 4,
};
const engine = await loadGlpkEngine();

/** A question about cascade routing, on an explorer of its own whose search is done. */
function asked(cancelled: () => boolean = () => false): BuildPlanInput {
  const rows = splitPrompts(generated.outcomes.promptIds.length, generated.seed).planning;
  const explorer = explorerOf(situation, { models: LADDER, rows, percentile: 95, qualityConfidence: 0.9, cancelled });
  explorer.search();
  return { ...situation, explorer, objective, fixed: null, engine, elapsedSeconds: () => 0 };
}

it("has no plan where the fastest is over the latency that a slack allows, counted from another kind's plan", () => {
  const input = asked();
  const fastest = planByGain(input);
  if (fastest.outcome !== "plan") throw new Error(fastest.reason);
  const { p95Seconds } = fastest.draft.predictions;
  const within = (slackFromSeconds: number) => planByGain({ ...input, objective: { ...objective, slack: 0.1 }, slackFromSeconds });
  expect(within(p95Seconds / 2)).toMatchObject({
    ...{ outcome: "infeasible", kind: "latency-budget", bestLatencySeconds: p95Seconds },
    reason: expect.stringMatching(/^The fastest cascade routing at this floor takes .* that the slack allows\.$/),
  });
  const allowed = within(p95Seconds);
  if (allowed.outcome !== "plan") throw new Error(allowed.reason);
  expect(allowed.draft.predictions.p95Seconds).toBeLessThanOrEqual(1.1 * p95Seconds);
});

it("does not answer from a search that was cancelled", () => {
  let cancelled = false;
  const input = asked(() => cancelled);
  cancelled = true;
  const partial = planByGain(input);
  cancelled = false;
  const whole = planByGain(asked());
  expect(whole.outcome).toBe("plan");
  expect(partial).not.toEqual(whole);
  expect(planByGain(input)).toEqual(whole);
});
