import { z } from "zod";
import { rerouteSchema } from "@/server/contracts/gateway/artefacts";
import { dispatchSchema, examineSchema, exploreSchema, solveSchema } from "@/server/contracts/planRequest";
import { justInTimeRequestSchema } from "@/server/contracts/studio/declaredWorkflows";
import { approveSchema, byPlan, exportSchema, planOnClusterSchema, remainingSchema } from "../base/inputs";
import { found, never, procedure, router } from "./trpc";

export const plansRouter = router({
  explore: procedure.input(exploreSchema).subscription(async function* ({ ctx, input, signal }) {
    yield* ctx.services.plans.explore(input, signal ?? never());
  }),
  dispatch: procedure.input(dispatchSchema).subscription(async function* ({ ctx, input, signal }) {
    yield* ctx.services.plans.dispatch(input, signal ?? never());
  }),
  solve: procedure.input(solveSchema).subscription(async function* ({ ctx, input, signal }) {
    yield* ctx.services.plans.solve(input, signal ?? never());
  }),
  examine: procedure.input(examineSchema).subscription(async function* ({ ctx, input, signal }) {
    yield* ctx.services.plans.examine(input, signal ?? never());
  }),
  keep: procedure.input(byPlan).mutation(({ ctx, input }) => ctx.services.plans.keep(input.planId, ctx.session.name)),
  list: procedure.input(z.object({ clusterId: z.string().nullable() })).query(({ ctx, input }) => ctx.services.plans.list(input.clusterId)),
  get: procedure.input(byPlan).query(({ ctx, input }) => found(ctx.services.plans.get(input.planId), `plan ${input.planId}`)),
  diff: procedure.input(planOnClusterSchema).query(({ ctx, input }) => ctx.services.plans.diff(input.planId, input.clusterId)),
  capacityDip: procedure
    .input(planOnClusterSchema)
    .query(({ ctx, input, signal }) => ctx.services.plans.capacityDip(input.planId, input.clusterId, signal ?? never())),
  remaining: procedure.input(remainingSchema).query(({ ctx, input, signal }) => ctx.services.plans.remaining(input, signal ?? never())),
  generated: procedure.input(planOnClusterSchema).query(({ ctx, input }) => ctx.services.plans.generated(input.planId, input.clusterId)),
  rehearse: procedure
    .input(planOnClusterSchema)
    .mutation(({ ctx, input, signal }) => ctx.services.plans.rehearse(input.planId, input.clusterId, signal ?? never())),
  export: procedure.input(exportSchema).query(({ ctx, input }) => ctx.services.plans.export(input.planId, input.clusterId, input.format)),
  approve: procedure.input(approveSchema).mutation(({ ctx, input }) => ctx.services.plans.approve(input, ctx.session.name)),
  reroute: procedure.input(rerouteSchema).mutation(({ ctx, input }) => ctx.services.plans.reroute(input, ctx.session.name)),
  justInTime: procedure.input(justInTimeRequestSchema).mutation(({ ctx, input }) => ctx.services.plans.justInTime(input, ctx.session.name)),
  import: procedure
    .input(z.object({ document: z.unknown() }))
    .mutation(({ ctx, input }) => ctx.services.plans.importDocument(input.document, ctx.session.name)),
});
