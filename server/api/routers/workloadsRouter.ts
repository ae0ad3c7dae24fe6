import { replaceArrivalsSchema } from "@/server/contracts/studio/arrivals";
import { byId, gatesOfWorkloadSchema, workloadImportSchema, workloadLinesSchema } from "../base/inputs";
import { compareWorkloadsSchema } from "../base/profilingInputs";
import { found, never, procedureFor, router } from "./trpc";

export const workloadsRouter = router({
  list: procedureFor("read").query(({ ctx }) => ctx.services.workloads.list()),
  get: procedureFor("read")
    .input(byId)
    .query(({ ctx, input }) => found(ctx.services.workloads.get(input.id), `workload ${input.id}`)),
  uses: procedureFor("read").query(({ ctx }) => ctx.services.workloads.uses()),
  lineage: procedureFor("read")
    .input(byId)
    .query(({ ctx, input }) => found(ctx.services.workloads.ties(input.id), `workload ${input.id}`)),
  gates: procedureFor("read")
    .input(gatesOfWorkloadSchema)
    .query(async ({ ctx, input, signal }) =>
      found(await ctx.services.workloads.compareGates(input, signal ?? never()), `workload ${input.id}`),
    ),
  compare: procedureFor("read")
    .input(compareWorkloadsSchema)
    .query(({ ctx, input: { a, b } }) => found(ctx.services.workloads.compare(a, b), `workload ${a} or ${b}`)),
  import: procedureFor("prepare")
    .input(workloadImportSchema)
    .mutation(({ ctx, input }) => ctx.services.workloads.importUploads(input, ctx.caller.name)),
  importLines: procedureFor("prepare")
    .input(workloadLinesSchema)
    .mutation(({ ctx, input }) => ctx.services.workloads.importLines(input.uploadId, ctx.caller.name)),
  replaceArrivals: procedureFor("prepare")
    .input(replaceArrivalsSchema)
    .mutation(({ ctx, input }) => ctx.services.workloads.replaceArrivals(input, ctx.caller.name)),
  remove: procedureFor("prepare")
    .input(byId)
    .mutation(({ ctx, input }) => ctx.services.workloads.remove(input.id, ctx.caller.name)),
});
