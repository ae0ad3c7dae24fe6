import type { ExamineRequest, ExploreRequest, PlanRequest, SolveRequest } from "@/server/contracts/planRequest";
import type { Examination, SolveAnswer } from "@/server/contracts/studio";
import type { ExplorationWire } from "@/solver/cascade/explore/explorationWire";
import type { PlanningSituation } from "@/solver/cascade/explore/situation";
import type { Serving, ServingFigures } from "@/solver/cascade/whatIf/servingFigures";
import type { PlanDraft } from "@/solver/plan/plan";
import type { Workload } from "@/solver/workload/workload";

/** What a request asks about the situation that its ids name. */
type Question<Request extends PlanRequest> = Omit<Request, keyof PlanRequest>;

/** A request with the situation that its ids name. */
export type Resolved<Request extends PlanRequest> = PlanningSituation & Question<Request>;

/** What the planner is asked about a situation. */
export type PlanningTask =
  | ({ readonly kind: "explore" } & Question<ExploreRequest>)
  | ({ readonly kind: "solve" } & Question<SolveRequest>)
  /** Answered on demand: each takes as long as some plans. */
  | ({ readonly kind: "examine" } & Question<ExamineRequest>)
  /** What a plan's own policy does on some of its engines, and on others. */
  | { readonly kind: "serve"; readonly servings: readonly Serving[] };

export type PlanningAnswer =
  | { readonly kind: "exploration"; readonly exploration: ExplorationWire }
  | { readonly kind: "draft"; readonly draft: PlanDraft }
  | { readonly kind: "examination"; readonly examination: Examination }
  /** Parallel to the servings. */
  | { readonly kind: "served"; readonly figures: readonly ServingFigures[] }
  | { readonly kind: "infeasible"; readonly answer: Extract<SolveAnswer, { outcome: "infeasible" }> };

/** To the worker: to plan something of its own before the first request, or a request. The workload travels only when the worker does not hold it yet. */
export type WorkerTask =
  | { readonly kind: "warm-up" }
  | {
      readonly kind: "request";
      readonly situation: Omit<PlanningSituation, "workload"> & { readonly workload: Workload | null };
      readonly task: PlanningTask;
    };
