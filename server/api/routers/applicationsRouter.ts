import { applySchema, byCluster, byId, rollbackSchema } from "../base/inputs";
import { found, procedureFor, router } from "./trpc";

export const applicationsRouter = router({
  start: procedureFor("operate")
    .input(applySchema)
    .mutation(({ ctx, input }) => ctx.services.applications.start(input, ctx.caller.name)),
  rollback: procedureFor("operate")
    .input(rollbackSchema)
    .mutation(({ ctx, input }) => ctx.services.applications.rollback(input, ctx.caller.name)),
  pause: procedureFor("operate")
    .input(byId)
    .mutation(({ ctx, input }) => ctx.services.applications.pause(input.id, ctx.caller.name)),
  resume: procedureFor("operate")
    .input(byId)
    .mutation(({ ctx, input }) => ctx.services.applications.resume(input.id, ctx.caller.name)),
  abort: procedureFor("operate")
    .input(byId)
    .mutation(({ ctx, input }) => ctx.services.applications.abort(input.id, ctx.caller.name)),
  get: procedureFor("read")
    .input(byId)
    .query(({ ctx, input }) => found(ctx.services.applications.get(input.id), `application ${input.id}`)),
  journal: procedureFor("read")
    .input(byId)
    .query(({ ctx, input }) => found(ctx.services.applications.journal(input.id), `application ${input.id}`)),
  list: procedureFor("read")
    .input(byCluster)
    .query(({ ctx, input }) => ctx.services.applications.list(input.clusterId)),
});
