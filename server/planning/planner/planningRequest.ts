import type { DispatchRequest, ExamineRequest, ExploreRequest, PlanRequest, SolveRequest } from "@/server/contracts/planRequest";
import type { Examination, SolveAnswer } from "@/server/contracts/studio";
import type { ExplorationWire } from "@/solver/cascade/explore/explorationWire";
import type { OnProgress } from "@/solver/cascade/explore/progress";
import type { PlanningSituation } from "@/solver/cascade/explore/situation";
import type { Serving, ServingFigures } from "@/solver/cascade/whatIf/servingFigures";
import type { DispatchExploration } from "@/solver/dispatch/dispatchExploration";
import type { NoDispatch } from "@/solver/dispatch/dispatchRefusal";
import type { DispatchDraft, PlanDraft } from "@/solver/plan/plan";
import type { Workload } from "@/solver/workload/workload";

/** The part of a request apart from the ids of its situation. */
type Question<Request extends PlanRequest> = Omit<Request, keyof PlanRequest>;

/** A request with its ids replaced by the situation. */
export type Resolved<Request extends PlanRequest> = PlanningSituation & Question<Request>;

/** Options of a request: cancellation and progress reports. */
export interface RequestOptions {
  readonly signal?: AbortSignal;
  /** At most ten times a second; the last one before the answer may be omitted. */
  readonly onProgress?: OnProgress;
}

/** The planner's tasks for a situation. */
export type PlanningTask =
  | ({ readonly kind: "explore" } & Question<ExploreRequest>)
  /** Slack dispatch over its tau, on the GPUs of the situation. */
  | ({ readonly kind: "dispatch" } & Question<DispatchRequest>)
  | ({ readonly kind: "solve" } & Question<SolveRequest>)
  /** Answered on demand: each takes as long as some plans. */
  | ({ readonly kind: "examine" } & Question<ExamineRequest>)
  /** The behaviour of a plan's own policy on some of its engines, and on others. */
  | { readonly kind: "serve"; readonly servings: readonly Serving[] };

export type PlanningAnswer =
  | { readonly kind: "exploration"; readonly exploration: ExplorationWire }
  | { readonly kind: "dispatch"; readonly dispatch: DispatchExploration }
  | { readonly kind: "no-dispatch"; readonly answer: NoDispatch }
  | { readonly kind: "draft"; readonly draft: PlanDraft }
  | { readonly kind: "dispatch-draft"; readonly draft: DispatchDraft }
  | { readonly kind: "examination"; readonly examination: Examination }
  /** Parallel to the servings. */
  | { readonly kind: "served"; readonly figures: readonly ServingFigures[] }
  | { readonly kind: "infeasible"; readonly answer: Extract<SolveAnswer, { outcome: "infeasible" }> };

/** The name under which the worker keeps a situation's workload: with the scores of a trained predictor it has other columns. */
export function workloadKey({
  workloadId,
  confidence,
  directStart,
}: Pick<PlanningSituation, "workloadId" | "confidence" | "directStart">): string {
  const predictor = directStart !== undefined && "predictor" in directStart ? directStart.predictor : confidence?.artefact;
  return predictor === undefined ? workloadId : `${workloadId}+${predictor}`;
}

/** To the worker: a warm-up before the first request, or a request. The workload is sent only if the worker does not have it yet. */
export type WorkerTask =
  | { readonly kind: "warm-up" }
  | {
      readonly kind: "request";
      readonly situation: Omit<PlanningSituation, "workload"> & { readonly workload: Workload | null };
      readonly task: PlanningTask;
    };
