import { tryRunSchema } from "@/server/contracts/studio/declaredWorkflows";
import { byCluster, endControlSchema } from "../base/inputs";
import { never, procedure, router } from "./trpc";

export const workflowsRouter = router({
  get: procedure.input(byCluster).query(({ ctx, input }) => ctx.services.workflows.get(input.clusterId)),
  waitTimes: procedure.input(byCluster).query(({ ctx, input }) => ctx.services.workflows.waitTimes(input.clusterId)),
  rounds: procedure.input(byCluster).query(({ ctx, input }) => ctx.services.workflows.rounds(input.clusterId)),
  tryRun: procedure.input(tryRunSchema).mutation(({ ctx, input, signal }) => ctx.services.workflows.tryRun(input, signal ?? never())),
  forget: procedure
    .input(endControlSchema)
    .mutation(({ ctx, input }) => ctx.services.gateway.forgetWorkflows(input.clusterId, input.reason, ctx.session.name)),
});
