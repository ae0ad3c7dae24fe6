import { handLabelSchema, nextLabelSchema, skipLabelSchema } from "@/server/contracts/studio/trust";
import { trustSchema } from "../base/profilingInputs";
import { procedure, router } from "./trpc";

export const labelsRouter = router({
  next: procedure.input(nextLabelSchema).query(({ ctx, input }) => ctx.services.trust.next(input.jobId, input.kind, ctx.session.name)),
  label: procedure.input(handLabelSchema).mutation(({ ctx, input }) => ctx.services.trust.label(input, ctx.session.name)),
  skip: procedure.input(skipLabelSchema).mutation(({ ctx, input }) => ctx.services.trust.skip(input, ctx.session.name)),
  undo: procedure.input(nextLabelSchema).mutation(({ ctx, input }) => ctx.services.trust.undo(input.jobId, input.kind, ctx.session.name)),
  trust: procedure.input(trustSchema).query(({ ctx, input }) => ctx.services.trust.report(input.jobId, input.floor)),
});
