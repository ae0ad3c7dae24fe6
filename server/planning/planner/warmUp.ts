import type { MilpEngine } from "@/solver/milp/engine";
import { generatedWorkload } from "@/solver/workload/generated";
import { createPlanningDesk } from "./planningDesk";

const GPUS = 8;

/** Enough to deploy a cascade: what the first plan of an operator then runs through. */
const REQUESTS_PER_SECOND = 160;
const QUALITY_FLOOR = 60;

/**
 * Plans for a small generated workload and forgets it, so that the engine has compiled the planner before somebody waits for a plan: that
 * is about half of the first one.
 */
export function warmUp(engine: MilpEngine): void {
  const situation = {
    workload: generatedWorkload({ prompts: 600, seed: 1 }),
    workloadId: "warm-up",
    cluster: {
      id: "warm-up",
      name: "warm-up",
      kind: "described" as const,
      gpu: "h100-sxm",
      nodes: [{ name: "node1", gpus: GPUS }],
      usdPerGpuHour: 1,
    },
    requestsPerSecond: REQUESTS_PER_SECOND,
  };
  const objective = {
    kind: "latency-under-quality",
    latency: "end-to-end",
    percentile: 95,
    qualityFloor: QUALITY_FLOOR,
    qualityConfidence: 0.9,
    latencyBudgetSeconds: null,
    maxGpus: GPUS,
  } as const;
  createPlanningDesk(engine, () => performance.now() / 1000).work(situation, { kind: "solve", objective, fixed: null }, () => false);
}
