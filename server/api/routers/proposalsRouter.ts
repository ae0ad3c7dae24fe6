import { byCluster, byId } from "../base/inputs";
import { found, procedureFor, router } from "./trpc";

export const proposalsRouter = router({
  /** The promises of the plan in force, their measurements, and what moved. */
  promises: procedureFor("read")
    .input(byCluster)
    .query(({ ctx, input }) => ctx.services.promises.report(input.clusterId)),
  toPlan: procedureFor("prepare")
    .input(byCluster)
    .mutation(({ ctx, input }) => ctx.services.promises.toPlan(input.clusterId)),
  list: procedureFor("read")
    .input(byCluster)
    .query(({ ctx, input }) => ctx.services.proposals.list(input.clusterId)),
  get: procedureFor("read")
    .input(byId)
    .query(({ ctx, input }) => found(ctx.services.proposals.get(input.id), `proposal ${input.id}`)),
  dismiss: procedureFor("operate")
    .input(byId)
    .mutation(({ ctx, input }) => ctx.services.proposals.dismiss(input.id, ctx.caller.name)),
});
