import { arrivalsPreviewSchema } from "@/server/contracts/studio/arrivals";
import { loadSchema } from "./base/inputs";
import { applicationsRouter } from "./routers/applicationsRouter";
import { artefactsRouter } from "./routers/artefactsRouter";
import { auditRouter } from "./routers/auditRouter";
import { batchesRouter } from "./routers/batchesRouter";
import { calibrationsRouter } from "./routers/calibrationsRouter";
import { measuringRouter } from "./routers/measuringRouter";
import { cardsRouter } from "./routers/cardsRouter";
import { clustersRouter } from "./routers/clustersRouter";
import { declaredWorkflowsRouter } from "./routers/declaredWorkflowsRouter";
import { ensemblesRouter } from "./routers/ensemblesRouter";
import { gatewayRouter } from "./routers/gatewayRouter";
import { labelsRouter } from "./routers/labelsRouter";
import { labRouter } from "./routers/labRouter";
import { liveRouter } from "./routers/liveRouter";
import { gatewayKeysRouter, peopleRouter, permissionSchema } from "./routers/peopleRouter";
import { plansRouter } from "./routers/plansRouter";
import { profilesRouter } from "./routers/profilesRouter";
import { promptsRouter } from "./routers/promptsRouter";
import { proposalsRouter } from "./routers/proposalsRouter";
import { schedulesRouter } from "./routers/schedulesRouter";
import { procedureFor, router } from "./routers/trpc";
import { workflowsRouter } from "./routers/workflowsRouter";
import { workloadsRouter } from "./routers/workloadsRouter";

export const appRouter = router({
  session: router({
    me: procedureFor("read").query(({ ctx }) => ctx.services.people.me(ctx.caller)),
    /** Names of those who have a permission, for a person who lacks it. */
    whoMay: procedureFor("read")
      .input(permissionSchema)
      .query(({ ctx, input }) => ctx.services.people.whoMay(input.permission)),
    signOut: procedureFor("read").mutation(({ ctx }) => ctx.services.people.signOut(ctx.caller)),
  }),
  people: peopleRouter,
  gatewayKeys: gatewayKeysRouter,
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
    start: procedureFor("operate")
      .input(loadSchema)
      .mutation(({ ctx, input }) => ctx.services.load.start(input, ctx.caller.name)),
    stop: procedureFor("operate").mutation(({ ctx }) => ctx.services.load.stop(ctx.caller.name)),
    status: procedureFor("read").query(({ ctx }) => ctx.services.load.status()),
  }),
  labels: labelsRouter,
  arrivals: router({
    preview: procedureFor("prepare")
      .input(arrivalsPreviewSchema)
      .mutation(({ ctx, input }) => ctx.services.arrivals.preview(input)),
  }),
  schedules: schedulesRouter,
  artefacts: artefactsRouter,
  audit: auditRouter,
  cards: cardsRouter,
  calibrations: calibrationsRouter,
  measuring: measuringRouter,
  lab: labRouter,
  workflows: workflowsRouter,
  declaredWorkflows: declaredWorkflowsRouter,
  ensembles: ensemblesRouter,
  batches: batchesRouter,
});

/** The server's whole interface for components: they import this type and nothing else from here. */
export type AppRouter = typeof appRouter;
