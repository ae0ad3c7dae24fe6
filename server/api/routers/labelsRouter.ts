import { labelAnswersSchema, labelsOfDecisionSchema, recalibrateGatesSchema } from "@/server/contracts/studio/answerLabels";
import { handLabelSchema, nextLabelSchema, skipLabelSchema } from "@/server/contracts/studio/trust";
import { byCluster } from "../base/inputs";
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
  answers: procedureFor("prepare")
    .input(labelAnswersSchema)
    .mutation(({ ctx, input }) => ctx.services.answerLabels.label(input.clusterId, input.labels, ctx.caller.name)),
  ofDecision: procedureFor("read")
    .input(labelsOfDecisionSchema)
    .query(({ ctx, input }) => ctx.services.answerLabels.ofDecision(input.clusterId, input.decisionId)),
  gates: procedureFor("read")
    .input(byCluster)
    .query(({ ctx, input }) => ctx.services.answerLabels.gates(input.clusterId)),
  recalibrate: procedureFor("prepare")
    .input(recalibrateGatesSchema)
    .mutation(({ ctx, input }) => ctx.services.answerLabels.recalibrate(input, ctx.caller.name, ctx.caller.userId)),
});
