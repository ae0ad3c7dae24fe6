import { gatewayRouter } from "@/server/api/gateway/gatewayRouter";
import { workflowsRouter } from "@/server/api/gateway/workflowsRouter";
import { router } from "./base/trpc";
import { clustersRouter } from "./clusters/clustersRouter";
import { batchesRouter } from "./ensembles/batchesRouter";
import { ensemblesRouter } from "./ensembles/ensemblesRouter";
import { calibrationsRouter } from "./hardware/calibrationsRouter";
import { cardsRouter } from "./hardware/cardsRouter";
import { artefactsRouter } from "./lab/artefactsRouter";
import { labRouter } from "./lab/labRouter";
import { liveRouter } from "./live/liveRouter";
import { loadRouter } from "./live/loadRouter";
import { applicationsRouter } from "./plans/applicationsRouter";
import { plansRouter } from "./plans/plansRouter";
import { proposalsRouter } from "./plans/proposalsRouter";
import { schedulesRouter } from "./plans/schedulesRouter";
import { labelsRouter } from "./profiling/labelsRouter";
import { profilesRouter } from "./profiling/profilesRouter";
import { promptsRouter } from "./profiling/promptsRouter";
import { auditRouter } from "./session/auditRouter";
import { sessionRouter } from "./session/sessionRouter";
import { arrivalsRouter } from "./workloads/arrivalsRouter";
import { declaredWorkflowsRouter } from "./workloads/declaredWorkflowsRouter";
import { workloadsRouter } from "./workloads/workloadsRouter";

export const appRouter = router({
  session: sessionRouter,
  workloads: workloadsRouter,
  clusters: clustersRouter,
  plans: plansRouter,
  applications: applicationsRouter,
  proposals: proposalsRouter,
  prompts: promptsRouter,
  profiles: profilesRouter,
  live: liveRouter,
  gateway: gatewayRouter,
  load: loadRouter,
  labels: labelsRouter,
  arrivals: arrivalsRouter,
  schedules: schedulesRouter,
  artefacts: artefactsRouter,
  audit: auditRouter,
  cards: cardsRouter,
  calibrations: calibrationsRouter,
  lab: labRouter,
  workflows: workflowsRouter,
  declaredWorkflows: declaredWorkflowsRouter,
  ensembles: ensemblesRouter,
  batches: batchesRouter,
});

/** All the interface knows of the server: components import this type and nothing else from here. */
export type AppRouter = typeof appRouter;
