import type { AuditLine } from "@/server/contracts/studio";
import type { AttachService, ClusterService, LiveService, LoadService } from "./clusterServices";
import type { BatchService, EnsembleService } from "./ensembleServices";
import type { GatewayService, WorkflowsService } from "./gatewayServices";
import type { CalibrationService, CardService } from "./hardwareServices";
import type { ArtefactService, LabService } from "./labServices";
import type { ApplicationService, PlanService, PromiseService, ProposalService } from "./planServices";
import type { ArrivalsService, ProfileService, PromptService, ScheduleService, TrustService } from "./profilingServices";
import type { DeclaredWorkflowService, WorkloadService } from "./workloadServices";

/** What the studio can do. Routers translate HTTP into these calls and nothing more. */
export interface Services {
  readonly workloads: WorkloadService;
  readonly clusters: ClusterService;
  readonly attach: AttachService;
  readonly plans: PlanService;
  readonly applications: ApplicationService;
  readonly proposals: ProposalService;
  readonly promises: PromiseService;
  readonly live: LiveService;
  readonly gateway: GatewayService;
  readonly workflows: WorkflowsService;
  readonly declaredWorkflows: DeclaredWorkflowService;
  readonly ensembles: EnsembleService;
  readonly batches: BatchService;
  readonly load: LoadService;
  readonly cards: CardService;
  readonly calibrations: CalibrationService;
  readonly prompts: PromptService;
  readonly profiles: ProfileService;
  readonly trust: TrustService;
  readonly arrivals: ArrivalsService;
  readonly schedules: ScheduleService;
  readonly artefacts: ArtefactService;
  readonly lab: LabService;
  readonly audit: { list(limit: number): readonly AuditLine[] };
  readonly sessions: { signOut(sessionHash: string): void };
}
