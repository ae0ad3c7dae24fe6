import { byId, workloadImportSchema } from "./inputs";
import { found, procedure, router } from "./trpc";

export const workloadsRouter = router({
  list: procedure.query(({ ctx }) => ctx.services.workloads.list()),
  get: procedure.input(byId).query(({ ctx, input }) => found(ctx.services.workloads.get(input.id), `workload ${input.id}`)),
  import: procedure.input(workloadImportSchema).mutation(({ ctx, input }) => ctx.services.workloads.importUploads(input, ctx.session.name)),
  remove: procedure.input(byId).mutation(({ ctx, input }) => ctx.services.workloads.remove(input.id, ctx.session.name)),
});
