import { parentPort, workerData } from "node:worker_threads";
import type { TellProgress } from "@/solver/cascade/progress";
import type { Workload } from "@/solver/workload/workload";
import { loadGlpkEngine } from "./glpkEngine";
import { Cancelled, createPlanningDesk } from "./planningDesk";
import type { WorkerReply, WorkerRequest, WorkerStart } from "./planningRequest";
import { warmUp } from "./warmUp";

/** Entry of the planning worker thread: takes requests one after another and answers each. */
const port = parentPort;
if (port === null) throw new Error("The planning worker runs as a worker thread only.");

/** Progress is told no more often than eyes follow. */
const PROGRESS_MS = 100;

const engine = await loadGlpkEngine();
if ((workerData as WorkerStart).warm) warmUp(engine);
const desk = createPlanningDesk(engine, () => performance.now() / 1000);
const workloads = new Map<string, Workload>();

const reply = (message: WorkerReply): void => port.postMessage(message);
port.on("message", (request: WorkerRequest) => reply(answer(request)));

function progressOf(id: number): TellProgress {
  let toldMs = performance.now();
  return (progress) => {
    const nowMs = performance.now();
    if (nowMs - toldMs < PROGRESS_MS) return;
    toldMs = nowMs;
    reply({ id, outcome: "progress", progress });
  };
}

function answer({ id, situation, task, stop }: WorkerRequest): WorkerReply {
  if (situation.workload !== null) workloads.set(situation.workloadId, situation.workload);
  const workload = workloads.get(situation.workloadId);
  const flag = new Int32Array(stop);
  const cancelled = () => Atomics.load(flag, 0) === 1;
  if (cancelled()) return { id, outcome: "cancelled" };
  try {
    if (workload === undefined) throw new Error(`workload ${situation.workloadId} never reached the planning worker`);
    return { id, outcome: "answer", answer: desk.work({ ...situation, workload }, task, cancelled, progressOf(id)) };
  } catch (problem) {
    if (problem instanceof Cancelled) return { id, outcome: "cancelled" };
    return { id, outcome: "failed", message: problem instanceof Error ? (problem.stack ?? problem.message) : String(problem) };
  }
}
