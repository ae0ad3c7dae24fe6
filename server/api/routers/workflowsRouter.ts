import { tryRunSchema } from "@/server/contracts/studio/declaredWorkflows";
import { byCluster, endControlSchema } from "../base/inputs";
import { never, procedureFor, router } from "./trpc";

export const workflowsRouter = router({
  get: procedureFor("read")
    .input(byCluster)
    .query(({ ctx, input }) => ctx.services.workflows.get(input.clusterId)),
  waitTimes: procedureFor("read")
    .input(byCluster)
    .query(({ ctx, input }) => ctx.services.workflows.waitTimes(input.clusterId)),
  rounds: procedureFor("read")
    .input(byCluster)
    .query(({ ctx, input }) => ctx.services.workflows.rounds(input.clusterId)),
  tryRun: procedureFor("operate")
    .input(tryRunSchema)
    .mutation(({ ctx, input, signal }) => ctx.services.workflows.tryRun(input, signal ?? never())),
  forget: procedureFor("operate")
    .input(endControlSchema)
    .mutation(({ ctx, input }) => ctx.services.gateway.forgetWorkflows(input.clusterId, input.reason, ctx.caller.name)),
});
