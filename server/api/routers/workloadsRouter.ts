import { replaceArrivalsSchema } from "@/server/contracts/studio/arrivals";
import { byId, workloadImportSchema, workloadLinesSchema } from "../base/inputs";
import { compareWorkloadsSchema } from "../base/profilingInputs";
import { found, procedure, router } from "./trpc";

export const workloadsRouter = router({
  list: procedure.query(({ ctx }) => ctx.services.workloads.list()),
  get: procedure.input(byId).query(({ ctx, input }) => found(ctx.services.workloads.get(input.id), `workload ${input.id}`)),
  uses: procedure.query(({ ctx }) => ctx.services.workloads.uses()),
  lineage: procedure.input(byId).query(({ ctx, input }) => found(ctx.services.workloads.ties(input.id), `workload ${input.id}`)),
  compare: procedure
    .input(compareWorkloadsSchema)
    .query(({ ctx, input: { a, b } }) => found(ctx.services.workloads.compare(a, b), `workload ${a} or ${b}`)),
  import: procedure.input(workloadImportSchema).mutation(({ ctx, input }) => ctx.services.workloads.importUploads(input, ctx.session.name)),
  importLines: procedure
    .input(workloadLinesSchema)
    .mutation(({ ctx, input }) => ctx.services.workloads.importLines(input.uploadId, ctx.session.name)),
  replaceArrivals: procedure
    .input(replaceArrivalsSchema)
    .mutation(({ ctx, input }) => ctx.services.workloads.replaceArrivals(input, ctx.session.name)),
  remove: procedure.input(byId).mutation(({ ctx, input }) => ctx.services.workloads.remove(input.id, ctx.session.name)),
});
