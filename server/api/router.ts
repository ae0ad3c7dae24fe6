import { applicationsRouter } from "./applicationsRouter";
import { arrivalsRouter } from "./arrivalsRouter";
import { artefactsRouter } from "./artefactsRouter";
import { auditRouter } from "./auditRouter";
import { batchesRouter } from "./batchesRouter";
import { calibrationsRouter } from "./calibrationsRouter";
import { cardsRouter } from "./cardsRouter";
import { clustersRouter } from "./clustersRouter";
import { declaredWorkflowsRouter } from "./declaredWorkflowsRouter";
import { ensemblesRouter } from "./ensemblesRouter";
import { gatewayRouter } from "./gatewayRouter";
import { labelsRouter } from "./labelsRouter";
import { labRouter } from "./labRouter";
import { liveRouter } from "./liveRouter";
import { loadRouter } from "./loadRouter";
import { plansRouter } from "./plansRouter";
import { profilesRouter } from "./profilesRouter";
import { promptsRouter } from "./promptsRouter";
import { proposalsRouter } from "./proposalsRouter";
import { schedulesRouter } from "./schedulesRouter";
import { sessionRouter } from "./sessionRouter";
import { router } from "./trpc";
import { workflowsRouter } from "./workflowsRouter";
import { workloadsRouter } from "./workloadsRouter";

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
