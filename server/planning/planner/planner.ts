import type { DispatchRequest, ExamineRequest, ExploreRequest, SolveRequest } from "@/server/contracts/planRequest";
import type { DispatchAnswer, Examination, Outcome, PlanningProgress, SolveAnswer } from "@/server/contracts/studio";
import { ResidentThread } from "@/server/threads/residentThread";
import { ThreadEnded } from "@/server/threads/workerThread";
import type { ExplorationWire } from "@/solver/cascade/explore/explorationWire";
import type { PlanningSituation } from "@/solver/cascade/explore/situation";
import type { Serving, ServingFigures } from "@/solver/cascade/whatIf/servingFigures";
import type { PolicyDocument } from "@/solver/plan/policySchema";
import {
  type PlanningAnswer,
  type PlanningTask,
  type RequestOptions,
  type Resolved,
  type WorkerTask,
  workloadKey,
} from "./planningRequest";
import { sealPlan } from "./sealPlan";

export { highestPlannedRate } from "./highestPlannedRate";

/** Finds plans in a worker thread, so that it blocks nothing else. Command line and studio use the same. */
export interface Planner {
  /** Everything sliders need to choose plans without another request. Refused if no model of the workload fits the cluster. */
  explore(request: Resolved<ExploreRequest>, asking?: RequestOptions): Promise<Outcome<{ readonly exploration: ExplorationWire }>>;
  /** Slack dispatch over its tau, simulated; takes seconds. Refused where there is nothing to dispatch between. */
  dispatch(request: Resolved<DispatchRequest>, asking?: RequestOptions): Promise<DispatchAnswer>;
  /** A sealed plan, or why there is none and what could be reached. `workloadVersion`: for its inputs; absent: it has none. */
  solve(request: Resolved<SolveRequest> & { readonly workloadVersion?: number }, asking?: RequestOptions): Promise<SolveAnswer>;
  /** One question about the plan of a request; refused if there is no such plan. */
  examine(request: Resolved<ExamineRequest>, asking?: RequestOptions): Promise<Outcome<{ readonly examination: Examination }>>;
  /** The latency of requests under policies with the engines that serve at some moment; refused if an engine's cards are unknown. */
  serve(
    situation: PlanningSituation,
    servings: readonly Serving[],
    asking?: RequestOptions,
  ): Promise<Outcome<{ readonly figures: readonly ServingFigures[] }>>;
  close(): Promise<void>;
}

/**
 * A planner over one worker thread, started at the first request and again after a crash. Requests are answered in order; an aborted one
 * rejects at once with the signal's reason, and the worker stops working on it.
 *
 * @param warm starts the worker now and warms it up, for callers with several requests: the first plan is then not delayed by it. A request
 * that arrives meanwhile waits.
 */
export function createPlanner({ warm = false }: { readonly warm?: boolean } = {}): Planner {
  /** Workloads that the thread already has. */
  const sent = new Set<string>();
  const thread = new ResidentThread<WorkerTask, PlanningAnswer | null, PlanningProgress>({ file: "planningWorker" }, () => sent.clear());

  async function ask(
    { workload, ...situation }: PlanningSituation,
    task: PlanningTask,
    asking: RequestOptions = {},
  ): Promise<PlanningAnswer> {
    const { signal, onProgress } = asking;
    signal?.throwIfAborted();
    const key = workloadKey(situation);
    const known = sent.has(key);
    sent.add(key);
    try {
      const answer = await thread.ask(
        { kind: "request", situation: { ...situation, workload: known ? null : workload }, task },
        { signal, onSaid: onProgress },
      );
      if (answer === null) throw new Error("the worker gave no answer");
      return answer;
    } catch (problem) {
      if (signal?.aborted) throw problem;
      if (!(problem instanceof ThreadEnded)) throw new Error(`Planning failed: ${problem instanceof Error ? problem.stack : problem}`);
      throw problem.kind === "closed"
        ? new Error("The planner was closed.")
        : new Error(`${problem.message} Ask again: a new one is started.`);
    }
  }

  // A failure shows at the first request.
  if (warm) thread.ask({ kind: "warm-up" }).catch(() => undefined);

  return {
    async explore({ around = null, gateChoice, ...situation }, asking) {
      const answer = await ask(situation, { kind: "explore", around, gateChoice }, asking);
      if (answer.kind === "exploration") return { ok: true, exploration: answer.exploration };
      if (answer.kind === "infeasible") return { ok: false, message: answer.answer.reason };
      throw new Error(`an exploration was asked, a ${answer.kind} came`);
    },
    async dispatch(situation, asking) {
      const answer = await ask(situation, { kind: "dispatch" }, asking);
      if (answer.kind === "dispatch") return { ok: true, dispatch: answer.dispatch };
      if (answer.kind === "no-dispatch") return { ok: false, kind: answer.answer.kind, message: answer.answer.reason };
      if (answer.kind === "infeasible") return { ok: false, kind: "infeasible", message: answer.answer.reason };
      throw new Error(`slack dispatch was asked, a ${answer.kind} came`);
    },
    async solve({ objective, fixed, policy, tau, gateChoice, workloadVersion: version, ...situation }, asking) {
      const answer = await ask(situation, { kind: "solve", objective, fixed, policy, tau, gateChoice }, asking);
      if (answer.kind === "draft" || answer.kind === "dispatch-draft") {
        const { draft } = answer;
        const { workload, ...inputs } = draft.inputs;
        const versioned = version === undefined ? draft : { ...draft, inputs: { ...inputs, workload: { ...workload, version } } };
        return { outcome: "plan", plan: sealPlan<PolicyDocument>(versioned, new Date()) };
      }
      if (answer.kind === "infeasible") return answer.answer;
      throw new Error(`a plan was asked, an ${answer.kind} came`);
    },
    async examine({ objective, fixed, policy, tau, gateChoice, examine, ...situation }, asking) {
      const answer = await ask(situation, { kind: "examine", objective, fixed, policy, tau, gateChoice, examine }, asking);
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
    close: () => thread.close(),
  };
}
