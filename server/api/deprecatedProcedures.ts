import { gatewayRouter } from "@/server/api/gateway/gatewayRouter";
import { workflowsRouter } from "@/server/api/gateway/workflowsRouter";
import { mergeRouters, router } from "./base/trpc";
import { calibrationsRouter } from "./hardware/calibrationsRouter";
import { plansRouter } from "./plans/plansRouter";
import { promptsRouter } from "./profiling/promptsRouter";
import { appRouter } from "./router";
import { workloadsRouter } from "./workloads/workloadsRouter";

/** Former paths of renamed procedures. They answer for one release, and then this file goes. */
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

/** The procedures that the studio answers: those of the interface, and renamed ones under their former paths. */
export const servedRouter = mergeRouters(appRouter, router(deprecatedProcedures));
