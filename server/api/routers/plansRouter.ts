import { z } from "zod";
import { rerouteSchema } from "@/server/contracts/gateway/artefacts";
import { dispatchSchema, examineSchema, exploreSchema, solveSchema } from "@/server/contracts/planRequest";
import { answerScoresRequestSchema, justInTimeRequestSchema } from "@/server/contracts/studio/declaredWorkflows";
import { mixRequestSchema } from "@/server/contracts/studio/mix";
import { approveSchema, byPlan, exportSchema, planOnClusterSchema, remainingSchema } from "../base/inputs";
import { found, never, procedureFor, router } from "./trpc";

export const plansRouter = router({
  explore: procedureFor("read")
    .input(exploreSchema)
    .subscription(async function* ({ ctx, input, signal }) {
      yield* ctx.services.plans.explore(input, signal ?? never());
    }),
  dispatch: procedureFor("read")
    .input(dispatchSchema)
    .subscription(async function* ({ ctx, input, signal }) {
      yield* ctx.services.plans.dispatch(input, signal ?? never());
    }),
  solve: procedureFor("read")
    .input(solveSchema)
    .subscription(async function* ({ ctx, input, signal }) {
      yield* ctx.services.plans.solve(input, signal ?? never());
    }),
  mix: procedureFor("read")
    .input(mixRequestSchema)
    .subscription(async function* ({ ctx, input, signal }) {
      yield* ctx.services.plans.mix(input, signal ?? never());
    }),
  examine: procedureFor("read")
    .input(examineSchema)
    .subscription(async function* ({ ctx, input, signal }) {
      yield* ctx.services.plans.examine(input, signal ?? never());
    }),
  keep: procedureFor("prepare")
    .input(byPlan)
    .mutation(({ ctx, input }) => ctx.services.plans.keep(input.planId, ctx.caller.name, ctx.caller.userId)),
  list: procedureFor("read")
    .input(z.object({ clusterId: z.string().nullable() }))
    .query(({ ctx, input }) => ctx.services.plans.list(input.clusterId)),
  get: procedureFor("read")
    .input(byPlan)
    .query(({ ctx, input }) => found(ctx.services.plans.get(input.planId), `plan ${input.planId}`)),
  diff: procedureFor("read")
    .input(planOnClusterSchema)
    .query(({ ctx, input }) => ctx.services.plans.diff(input.planId, input.clusterId)),
  capacityDip: procedureFor("read")
    .input(planOnClusterSchema)
    .query(({ ctx, input, signal }) => ctx.services.plans.capacityDip(input.planId, input.clusterId, signal ?? never())),
  remaining: procedureFor("read")
    .input(remainingSchema)
    .query(({ ctx, input, signal }) => ctx.services.plans.remaining(input, signal ?? never())),
  generated: procedureFor("read")
    .input(planOnClusterSchema)
    .query(({ ctx, input }) => ctx.services.plans.generated(input.planId, input.clusterId)),
  rehearse: procedureFor("prepare")
    .input(planOnClusterSchema)
    .mutation(({ ctx, input, signal }) => ctx.services.plans.rehearse(input.planId, input.clusterId, signal ?? never())),
  export: procedureFor("read")
    .input(exportSchema)
    .query(({ ctx, input }) => ctx.services.plans.export(input.planId, input.clusterId, input.format)),
  approve: procedureFor("approve")
    .input(approveSchema)
    .mutation(({ ctx, input }) => ctx.services.plans.approve(input, ctx.caller.name, ctx.caller.userId)),
  reroute: procedureFor("prepare")
    .input(rerouteSchema)
    .mutation(({ ctx, input }) => ctx.services.plans.reroute(input, ctx.caller.name, ctx.caller.userId)),
  justInTime: procedureFor("prepare")
    .input(justInTimeRequestSchema)
    .mutation(({ ctx, input }) => ctx.services.plans.justInTime(input, ctx.caller.name, ctx.caller.userId)),
  answerScores: procedureFor("read")
    .input(answerScoresRequestSchema)
    .query(({ ctx, input }) => ctx.services.plans.answerScores(input)),
  import: procedureFor("prepare")
    .input(z.object({ document: z.unknown() }))
    .mutation(({ ctx, input }) => ctx.services.plans.importDocument(input.document, ctx.caller.name, ctx.caller.userId)),
});
