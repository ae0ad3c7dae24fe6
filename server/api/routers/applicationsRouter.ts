import { applySchema, byCluster, byId, rollbackSchema } from "../base/inputs";
import { found, procedure, router } from "./trpc";

export const applicationsRouter = router({
  start: procedure.input(applySchema).mutation(({ ctx, input }) => ctx.services.applications.start(input, ctx.session.name)),
  rollback: procedure.input(rollbackSchema).mutation(({ ctx, input }) => ctx.services.applications.rollback(input, ctx.session.name)),
  pause: procedure.input(byId).mutation(({ ctx, input }) => ctx.services.applications.pause(input.id, ctx.session.name)),
  resume: procedure.input(byId).mutation(({ ctx, input }) => ctx.services.applications.resume(input.id, ctx.session.name)),
  abort: procedure.input(byId).mutation(({ ctx, input }) => ctx.services.applications.abort(input.id, ctx.session.name)),
  get: procedure.input(byId).query(({ ctx, input }) => found(ctx.services.applications.get(input.id), `application ${input.id}`)),
  journal: procedure.input(byId).query(({ ctx, input }) => found(ctx.services.applications.journal(input.id), `application ${input.id}`)),
  list: procedure.input(byCluster).query(({ ctx, input }) => ctx.services.applications.list(input.clusterId)),
});
