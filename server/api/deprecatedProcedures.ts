import { appRouter } from "./router";
import { calibrationsRouter } from "./routers/calibrationsRouter";
import { gatewayRouter } from "./routers/gatewayRouter";
import { plansRouter } from "./routers/plansRouter";
import { promptsRouter } from "./routers/promptsRouter";
import { mergeRouters, router } from "./routers/trpc";
import { workflowsRouter } from "./routers/workflowsRouter";
import { workloadsRouter } from "./routers/workloadsRouter";

/** Former paths of renamed procedures. They work for one release; then this file is deleted. */
export const deprecatedProcedures = {
  "calibrations.takeLive": calibrationsRouter.calibrateFromLive,
  "gateway.liftPanic": gatewayRouter.clearPanic,
  "gateway.turnKnobs": gatewayRouter.setControls,
  "plans.dip": plansRouter.capacityDip,
  "prompts.putAway": promptsRouter.archive,
  "workflows.of": workflowsRouter.get,
  "workflows.waited": workflowsRouter.waitTimes,
  "workloads.rearrive": workloadsRouter.replaceArrivals,
};

/** The procedures that the studio serves: those of the interface, and renamed ones under their former paths. */
export const servedRouter = mergeRouters(appRouter, router(deprecatedProcedures));
