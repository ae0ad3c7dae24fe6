import { Worker } from "node:worker_threads";
import type { Examination, Outcome, SolveAnswer } from "@/server/contracts/studio";
import type { ExplorationWire } from "@/solver/cascade/explorationWire";
import type { TellProgress } from "@/solver/cascade/progress";
import type { Serving, ServingFigures } from "@/solver/cascade/servingFigures";
import type {
  ExamineRequest,
  ExploreRequest,
  PlanningAnswer,
  PlanningSituation,
  PlanningTask,
  SolveRequest,
  WorkerReply,
  WorkerRequest,
  WorkerStart,
} from "./planningRequest";
import { sealPlan } from "./sealPlan";
import { workerFile } from "./workerFile";

/** Who waits for an answer: may give up, and may want to know how far it is. */
export interface Asking {
  readonly signal?: AbortSignal;
  /** At most ten times a second; the last before the answer may be left out. */
  readonly onProgress?: TellProgress;
}

/** Finds cascade plans in a worker thread, so that nothing else waits. Command line and studio use the same. */
export interface Planner {
  /** Everything sliders need to choose plans without asking again. Refused when no model of the workload fits the cluster. */
  explore(request: ExploreRequest, asking?: Asking): Promise<Outcome<{ readonly exploration: ExplorationWire }>>;
  /** A sealed plan, or why there is none and what could be reached. */
  solve(request: SolveRequest, asking?: Asking): Promise<SolveAnswer>;
  /** One question about the plan that a request leads to; refused where it leads to none. */
  examine(request: ExamineRequest, asking?: Asking): Promise<Outcome<{ readonly examination: Examination }>>;
  /** What requests feel under policies with the engines that serve at some moment; refused where an engine is not known by cards. */
  serve(
    situation: PlanningSituation,
    servings: readonly Serving[],
    asking?: Asking,
  ): Promise<Outcome<{ readonly figures: readonly ServingFigures[] }>>;
  close(): Promise<void>;
}

interface Waiting {
  readonly progress: TellProgress;
  readonly resolve: (answer: PlanningAnswer) => void;
  readonly reject: (reason: Error) => void;
}

/**
 * A planner over one worker thread, started at the first request and again after a crash. Requests are answered in order; an
 * aborted one rejects at once with the signal's reason, and the worker stops working on it.
 *
 * @param warm starts the worker now and warms it up, for whoever asks more than once: the first plan then does not pay for that. A
 * request that comes meanwhile waits.
 */
export function createPlanner({ warm = false }: { readonly warm?: boolean } = {}): Planner {
  let worker: Worker | null = null;
  let nextId = 0;
  const waiting = new Map<number, Waiting>();
  const sent = new Set<string>();

  function start(started: WorkerStart): Worker {
    const fresh = new Worker(workerFile("planningWorker"), { workerData: started });
    fresh.on("message", (reply: WorkerReply) => settle(reply));
    fresh.on("error", (problem) => crashed(fresh, problem.message));
    fresh.on("exit", (code) => crashed(fresh, `exit code ${code}`));
    return fresh;
  }

  function settle(reply: WorkerReply): void {
    const own = waiting.get(reply.id);
    if (reply.outcome === "progress") {
      own?.progress(reply.progress);
      return;
    }
    waiting.delete(reply.id);
    // An idle worker must not keep the process alive.
    if (waiting.size === 0) worker?.unref();
    if (reply.outcome === "answer") own?.resolve(reply.answer);
    else if (reply.outcome === "failed") own?.reject(new Error(`Planning failed: ${reply.message}`));
  }

  function crashed(which: Worker, how: string): void {
    if (worker !== which) return;
    worker = null;
    sent.clear();
    for (const { reject } of waiting.values())
      reject(new Error(`The planning worker ended unexpectedly (${how}). Ask again: a new one is started.`));
    waiting.clear();
  }

  function ask({ workload, ...situation }: PlanningSituation, task: PlanningTask, asking: Asking = {}): Promise<PlanningAnswer> {
    const { signal, onProgress = () => undefined } = asking;
    signal?.throwIfAborted();
    worker ??= start({ warm: false });
    worker.ref();
    const id = nextId;
    nextId += 1;
    const stop = new SharedArrayBuffer(4);
    const known = sent.has(situation.workloadId);
    sent.add(situation.workloadId);
    const request: WorkerRequest = { id, situation: { ...situation, workload: known ? null : workload }, task, stop };
    return new Promise((resolve, reject) => {
      const abort = (): void => {
        Atomics.store(new Int32Array(stop), 0, 1);
        waiting.delete(id);
        reject(signal?.reason);
      };
      signal?.addEventListener("abort", abort, { once: true });
      const ended = (): void => signal?.removeEventListener("abort", abort);
      waiting.set(id, {
        progress: onProgress,
        resolve: (answer) => {
          ended();
          resolve(answer);
        },
        reject: (reason) => {
          ended();
          reject(reason);
        },
      });
      worker?.postMessage(request);
    });
  }

  if (warm) {
    worker = start({ warm });
    worker.unref();
  }

  return {
    async explore({ around = null, ...situation }, asking) {
      const answer = await ask(situation, { kind: "explore", around }, asking);
      if (answer.kind === "exploration") return { ok: true, exploration: answer.exploration };
      if (answer.kind === "infeasible") return { ok: false, message: answer.answer.reason };
      throw new Error(`an exploration was asked, a ${answer.kind} came`);
    },
    async solve({ objective, fixed, ...situation }, asking) {
      const answer = await ask(situation, { kind: "solve", objective, fixed }, asking);
      if (answer.kind === "draft") return { outcome: "plan", plan: sealPlan(answer.draft, new Date()) };
      if (answer.kind === "infeasible") return answer.answer;
      throw new Error(`a plan was asked, an ${answer.kind} came`);
    },
    async examine({ objective, fixed, examine, ...situation }, asking) {
      const answer = await ask(situation, { kind: "examine", objective, fixed, examine }, asking);
      if (answer.kind === "examination") return { ok: true, examination: answer.examination };
      if (answer.kind === "infeasible") return { ok: false, message: answer.answer.reason };
      throw new Error(`an examination was asked, a ${answer.kind} came`);
    },
    async serve(situation, servings, asking) {
      const answer = await ask(situation, { kind: "serve", servings }, asking);
      if (answer.kind === "served") return { ok: true, figures: answer.figures };
      if (answer.kind === "infeasible") return { ok: false, message: answer.answer.reason };
      throw new Error(`what serves was asked, a ${answer.kind} came`);
    },
    async close() {
      const ending = worker;
      worker = null;
      for (const { reject } of waiting.values()) reject(new Error("The planner was closed."));
      waiting.clear();
      await ending?.terminate();
    },
  };
}
