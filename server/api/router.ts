import { arrivalsPreviewSchema } from "@/server/contracts/studio/arrivals";
import { loadSchema } from "./base/inputs";
import { applicationsRouter } from "./routers/applicationsRouter";
import { artefactsRouter } from "./routers/artefactsRouter";
import { auditRouter } from "./routers/auditRouter";
import { batchesRouter } from "./routers/batchesRouter";
import { calibrationsRouter } from "./routers/calibrationsRouter";
import { cardsRouter } from "./routers/cardsRouter";
import { clustersRouter } from "./routers/clustersRouter";
import { declaredWorkflowsRouter } from "./routers/declaredWorkflowsRouter";
import { ensemblesRouter } from "./routers/ensemblesRouter";
import { gatewayRouter } from "./routers/gatewayRouter";
import { labelsRouter } from "./routers/labelsRouter";
import { labRouter } from "./routers/labRouter";
import { liveRouter } from "./routers/liveRouter";
import { plansRouter } from "./routers/plansRouter";
import { profilesRouter } from "./routers/profilesRouter";
import { promptsRouter } from "./routers/promptsRouter";
import { proposalsRouter } from "./routers/proposalsRouter";
import { schedulesRouter } from "./routers/schedulesRouter";
import { procedure, router } from "./routers/trpc";
import { workflowsRouter } from "./routers/workflowsRouter";
import { workloadsRouter } from "./routers/workloadsRouter";

export const appRouter = router({
  session: router({
    me: procedure.query(({ ctx }) => ({ name: ctx.session.name })),
    signOut: procedure.mutation(({ ctx }) => ctx.services.sessions.signOut(ctx.session.hash)),
  }),
  workloads: workloadsRouter,
  clusters: clustersRouter,
  plans: plansRouter,
  applications: applicationsRouter,
  proposals: proposalsRouter,
  prompts: promptsRouter,
  profiles: profilesRouter,
  live: liveRouter,
  gateway: gatewayRouter,
  load: router({
    start: procedure.input(loadSchema).mutation(({ ctx, input }) => ctx.services.load.start(input, ctx.session.name)),
    stop: procedure.mutation(({ ctx }) => ctx.services.load.stop(ctx.session.name)),
    status: procedure.query(({ ctx }) => ctx.services.load.status()),
  }),
  labels: labelsRouter,
  arrivals: router({
    preview: procedure.input(arrivalsPreviewSchema).mutation(({ ctx, input }) => ctx.services.arrivals.preview(input)),
  }),
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

/** The server's whole interface for components: they import this type and nothing else from here. */
export type AppRouter = typeof appRouter;
