import type { PlanningProgress } from "@/server/contracts/studio";
import { serveTasks } from "@/server/threads/serveTasks";
import type { OnProgress } from "@/solver/cascade/explore/progress";
import type { MilpEngine } from "@/solver/milp/engine";
import { generatedWorkload } from "@/solver/workload/generated";
import type { Workload } from "@/solver/workload/workload";
import { loadGlpkEngine } from "./glpkEngine";
import { createPlanningDesk } from "./planningDesk";
import { type PlanningAnswer, type WorkerTask, workloadKey } from "./planningRequest";

/** Milliseconds between two reports of progress: more frequent ones are unreadable. */
const PROGRESS_MS = 100;

/** Entry of the planning worker thread. */
const engine = await loadGlpkEngine();
const desk = createPlanningDesk(engine, () => performance.now() / 1000);
const workloads = new Map<string, Workload>();

serveTasks<WorkerTask, PlanningAnswer | null, PlanningProgress>((asked, { say, cancelled }) => {
  if (asked.kind === "warm-up") {
    warmUp(engine);
    return null;
  }
  const { situation, task } = asked;
  const key = workloadKey(situation);
  if (situation.workload !== null) workloads.set(key, situation.workload);
  const workload = workloads.get(key);
  if (workload === undefined) throw new Error(`workload ${key} never reached the planning worker`);
  return desk.work({ ...situation, workload }, task, cancelled, seldom(say));
});

/** Forwards progress only if this time has passed since the last report. */
function seldom(say: OnProgress): OnProgress {
  let toldMs = performance.now();
  return (progress) => {
    const nowMs = performance.now();
    if (nowMs - toldMs < PROGRESS_MS) return;
    toldMs = nowMs;
    say(progress);
  };
}

const GPUS = 8;

/** Enough to deploy a cascade: the code that an operator's first plan then uses. */
const REQUESTS_PER_SECOND = 160;
const QUALITY_FLOOR = 60;

/**
 * Plans for a small generated workload and drops it, so that the engine has compiled the planner before a request: that takes about half of
 * the first one's time.
 */
function warmUp(engine: MilpEngine): void {
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
