import { createPlanner, type Planner } from "@/server/planning/planner";
import { workloadHash } from "@/server/planning/workloadCodec";
import type { CascadePolicy, Plan } from "@/solver/plan/plan";
import { generatedWorkload } from "@/solver/workload/generated";
import { splitPrompts } from "@/solver/workload/split";
import type { OutcomeTable, Workload } from "@/solver/workload/workload";
import type { Benchmark, Measurement } from "./benchmark";

/** Independent tables that are planned on; each has prompts, answers and judged scores of its own. */
const TABLES = 20;
const PROMPTS = 2000;
/** Prompts of the same law that nobody planned on: their mean is the quality on fresh traffic to about 0.3 points. */
const FRESH_PROMPTS = 20_000;
const FLOOR = 60;

export const floorBenchmarks: readonly Benchmark[] = [
  {
    name: "plans whose quality on fresh traffic misses the floor",
    // A bound at 90 % may miss in one of ten; of 20 plans four or more would then be seen in one run of seven.
    budget: { figure: 20, keep: "at most" },
    run: floorHeld,
  },
];

/** Plans at a floor that binds on independent tables, and looks at each plan's quality on prompts of the same law it never saw. */
async function floorHeld(): Promise<Measurement> {
  const planner = createPlanner();
  const fresh = generatedWorkload({ prompts: FRESH_PROMPTS, seed: 1_000_003 }).outcomes;
  let missed = 0;
  let missedHeldOut = 0;
  for (let seed = 1; seed <= TABLES; seed += 1) {
    const workload = generatedWorkload({ prompts: PROMPTS, seed });
    const { policy } = await planAt(planner, workload);
    const { heldOut } = splitPrompts(PROMPTS, workload.seed);
    if (qualityOn(fresh, policy, fresh.promptIds.keys()) < FLOOR) missed += 1;
    if (qualityOn(workload.outcomes, policy, heldOut) < FLOOR) missedHeldOut += 1;
  }
  await planner.close();
  return {
    figure: (100 * missed) / TABLES,
    unit: "%",
    detail: `${missed} of ${TABLES} plans at a floor of ${FLOOR} held for the lower 90 % bound, on ${FRESH_PROMPTS} fresh prompts; on their own held-out ${PROMPTS * 0.3}, whose mean is uncertain itself, ${missedHeldOut}`,
  };
}

async function planAt(planner: Planner, workload: Workload): Promise<Plan> {
  const nodes = [1, 2].map((node) => ({ name: `node${node}`, gpus: 4 }));
  const answer = await planner.solve({
    workload,
    workloadId: workloadHash(workload),
    cluster: { id: "bench", name: "bench", kind: "described", gpu: "l40s", nodes, usdPerGpuHour: 1 },
    requestsPerSecond: 50,
    objective: {
      kind: "latency-under-quality",
      latency: "end-to-end",
      percentile: 95,
      qualityFloor: FLOOR,
      qualityConfidence: 0.9,
      latencyBudgetSeconds: null,
      maxGpus: 8,
    },
    fixed: null,
  });
  if (answer.outcome !== "plan") throw new Error(`no plan: ${answer.reason}`);
  return answer.plan;
}

/** Mean label of the accepted answers when a policy serves these prompts of a table. */
function qualityOn({ models }: OutcomeTable, { stages, thresholds }: CascadePolicy, prompts: Iterable<number>): number {
  const ladder = stages.map(({ model }) => models.find((each) => each.model === model));
  let sum = 0;
  let count = 0;
  for (const prompt of prompts) {
    const accepted = ladder.find(
      (answers, stage) => stage === thresholds.length || (answers?.judged[prompt] ?? 0) >= (thresholds[stage] ?? 0),
    );
    sum += accepted?.label[prompt] ?? 0;
    count += 1;
  }
  return sum / count;
}
