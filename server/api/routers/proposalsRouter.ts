import { byCluster, byId } from "../base/inputs";
import { found, procedure, router } from "./trpc";

export const proposalsRouter = router({
  /** The promises of the plan in force, their measurements, and what moved. */
  promises: procedure.input(byCluster).query(({ ctx, input }) => ctx.services.promises.report(input.clusterId)),
  toPlan: procedure.input(byCluster).mutation(({ ctx, input }) => ctx.services.promises.toPlan(input.clusterId)),
  list: procedure.input(byCluster).query(({ ctx, input }) => ctx.services.proposals.list(input.clusterId)),
  get: procedure.input(byId).query(({ ctx, input }) => found(ctx.services.proposals.get(input.id), `proposal ${input.id}`)),
  dismiss: procedure.input(byId).mutation(({ ctx, input }) => ctx.services.proposals.dismiss(input.id, ctx.session.name)),
});
