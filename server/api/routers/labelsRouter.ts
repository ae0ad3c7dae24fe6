import { handLabelSchema, nextLabelSchema, skipLabelSchema } from "@/server/contracts/studio/trust";
import { trustSchema } from "../base/profilingInputs";
import { procedureFor, router } from "./trpc";

export const labelsRouter = router({
  next: procedureFor("prepare")
    .input(nextLabelSchema)
    .query(({ ctx, input }) => ctx.services.trust.next(input.jobId, input.kind, ctx.caller.name)),
  label: procedureFor("prepare")
    .input(handLabelSchema)
    .mutation(({ ctx, input }) => ctx.services.trust.label(input, ctx.caller.name)),
  skip: procedureFor("prepare")
    .input(skipLabelSchema)
    .mutation(({ ctx, input }) => ctx.services.trust.skip(input, ctx.caller.name)),
  undo: procedureFor("prepare")
    .input(nextLabelSchema)
    .mutation(({ ctx, input }) => ctx.services.trust.undo(input.jobId, input.kind, ctx.caller.name)),
  trust: procedureFor("read")
    .input(trustSchema)
    .query(({ ctx, input }) => ctx.services.trust.report(input.jobId, input.floor)),
});
