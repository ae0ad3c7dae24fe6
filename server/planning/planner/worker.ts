import type { PlanningProgress } from "@/server/contracts/studio";
import { serveTasks } from "@/server/threads/serveTasks";
import type { OnProgress } from "@/solver/cascade/explore/progress";
import type { Workload } from "@/solver/workload/workload";
import { loadGlpkEngine } from "./glpkEngine";
import { createPlanningDesk } from "./planningDesk";
import type { PlanningAnswer, WorkerTask } from "./planningRequest";
import { warmUp } from "./warmUp";

/** Milliseconds between two reports of progress: more are not readable. */
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
  if (situation.workload !== null) workloads.set(situation.workloadId, situation.workload);
  const workload = workloads.get(situation.workloadId);
  if (workload === undefined) throw new Error(`workload ${situation.workloadId} never reached the planning worker`);
  return desk.work({ ...situation, workload }, task, cancelled, seldom(say));
});

/** Passes progress on where some time has gone by since the last. */
function seldom(say: OnProgress): OnProgress {
  let toldMs = performance.now();
  return (progress) => {
    const nowMs = performance.now();
    if (nowMs - toldMs < PROGRESS_MS) return;
    toldMs = nowMs;
    say(progress);
  };
}
