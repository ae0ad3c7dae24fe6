import type { ExamineRequest, ExploreRequest, SolveRequest } from "@/server/contracts/planRequest";
import type {
  Application,
  Approval,
  ExamineEvent,
  ExploreEvent,
  GeneratedFile,
  JournalLine,
  KeptPlan,
  Outcome,
  PlanDiff,
  PlanSummary,
  PromiseReport,
  Proposal,
  RehearsedStep,
  RemainingCascade,
  RerouteRequest,
  RollOutDip,
  SolveEvent,
  TrafficToPlan,
} from "@/server/contracts/studio";
import type { JustInTimeRequest } from "@/server/contracts/studio/declaredWorkflows";
import type { ExportFormat } from "@/server/fleet/exportPlan";
import type { Actor } from "./actor";
import type { ApplyRequest, ApproveRequest, RemainingRequest, RollbackRequest } from "./inputs";

export interface PlanService {
  /** Everything the Plan page's sliders need to choose a plan without asking again, telling what the planner is at on the way. */
  explore(request: ExploreRequest, signal: AbortSignal): AsyncIterable<ExploreEvent>;
  /** A plan, telling what the planner is at on the way; it stops when the signal aborts. */
  solve(request: SolveRequest, signal: AbortSignal): AsyncIterable<SolveEvent>;
  /** One question about the plan that a request leads to. Asked again it is answered from what was found. */
  examine(request: ExamineRequest, signal: AbortSignal): AsyncIterable<ExamineEvent>;
  /** Keeps a plan that `solve` found in this run of the studio. */
  keep(planId: string, actor: Actor): Outcome<{ readonly id: string }>;
  list(clusterId: string | null): readonly PlanSummary[];
  get(planId: string): KeptPlan | null;
  diff(planId: string, clusterId: string): Promise<Outcome<{ readonly diff: PlanDiff }>>;
  /** What requests feel while the roll-out runs, simulated; it stops when the signal aborts. */
  capacityDip(planId: string, clusterId: string, signal: AbortSignal): Promise<Outcome<{ readonly dip: RollOutDip }>>;
  /** What the plan's cascade does without the models that are lost, beside what it does whole; it stops when the signal aborts. */
  remaining(request: RemainingRequest, signal: AbortSignal): Promise<Outcome<{ readonly remaining: RemainingCascade }>>;
  /** What would be put down for engines and gateway, beside what stands there now. */
  generated(planId: string, clusterId: string): Promise<Outcome<{ readonly files: readonly GeneratedFile[] }>>;
  /** The steps of the roll-out with every write withheld. */
  rehearse(planId: string, clusterId: string, signal: AbortSignal): Promise<Outcome<{ readonly steps: readonly RehearsedStep[] }>>;
  /** A plan as files for somebody else's hands; refused for a format that the cluster's connection cannot fill in. */
  export(planId: string, clusterId: string, format: ExportFormat): Outcome<{ readonly name: string; readonly text: string }>;
  approve(request: ApproveRequest, actor: Actor): Outcome<{ readonly approval: Approval }>;
  /** Keeps a plan on the engines of another under another policy; its figures stay the other's, and its notes say so. */
  reroute(request: RerouteRequest, actor: Actor): Outcome<{ readonly id: string }>;
  /** Keeps a plan on the engines of another that runs declared workflows just in time; its figures stay the other's, and its notes say so. */
  justInTime(request: JustInTimeRequest, actor: Actor): Outcome<{ readonly id: string }>;
  /** Takes a plan document from elsewhere: schema and hashes must hold. */
  importDocument(document: unknown, actor: Actor): Outcome<{ readonly id: string }>;
}

export interface ApplicationService {
  start(request: ApplyRequest, actor: Actor): Promise<Outcome<{ readonly application: Application }>>;
  /** Puts an earlier plan into force again. */
  rollback(request: RollbackRequest, actor: Actor): Promise<Outcome<{ readonly application: Application }>>;
  pause(id: string, actor: Actor): Outcome<{ readonly application: Application }>;
  resume(id: string, actor: Actor): Outcome<{ readonly application: Application }>;
  abort(id: string, actor: Actor): Outcome<{ readonly application: Application }>;
  get(id: string): Application | null;
  list(clusterId: string): readonly Application[];
  /** What it did, oldest first; null: no such application. */
  journal(id: string): readonly JournalLine[] | null;
}

/** Plans proposed for traffic that has drifted. */
export interface ProposalService {
  /** Newest first. */
  list(clusterId: string): readonly Proposal[];
  get(id: string): Proposal | null;
  /** Refused when it waits for no answer any more. */
  dismiss(id: string, actor: Actor): Outcome<object>;
}

/** What plans in force promised beside what is measured. */
export interface PromiseService {
  /** null: no plan is in force, its workload is not here, or nothing was measured yet. */
  report(clusterId: string): PromiseReport | null;
  /** What to plan for so that it is the traffic of now; a workload made of what was seen is kept. Nothing is planned or applied by it. */
  toPlan(clusterId: string): Outcome<{ readonly traffic: TrafficToPlan }>;
}
