import { tryRunSchema } from "@/server/contracts/declaredWorkflows";
import { byCluster, endControlSchema } from "./inputs";
import { never, procedure, router } from "./trpc";

export const workflowsRouter = router({
  of: procedure.input(byCluster).query(({ ctx, input }) => ctx.services.workflows.of(input.clusterId)),
  waited: procedure.input(byCluster).query(({ ctx, input }) => ctx.services.workflows.waited(input.clusterId)),
  rounds: procedure.input(byCluster).query(({ ctx, input }) => ctx.services.workflows.rounds(input.clusterId)),
  tryRun: procedure.input(tryRunSchema).mutation(({ ctx, input, signal }) => ctx.services.workflows.tryRun(input, signal ?? never())),
  forget: procedure
    .input(endControlSchema)
    .mutation(({ ctx, input }) => ctx.services.gateway.forgetWorkflows(input.clusterId, input.reason, ctx.session.name)),
});
