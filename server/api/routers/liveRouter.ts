import { tracked } from "@trpc/server";
import { quantities } from "@/server/series/quantities";
import { liveStreamSchema, measuredRangeSchema, plansInForceSchema, rangeSchema, subjectsSchema } from "../base/inputs";
import { procedure, router } from "./trpc";

export const liveRouter = router({
  /** All present data for a tab. */
  stream: procedure.input(liveStreamSchema).subscription(async function* ({ ctx, input, signal }) {
    if (signal === undefined) return;
    for await (const { id, event } of ctx.services.live.stream(input, signal)) yield tracked(id, event);
  }),
  /** The stored quantities, with units. */
  quantities: procedure.query(() => quantities),
  subjects: procedure
    .input(subjectsSchema)
    .query(({ ctx, input }) => ctx.services.live.subjects(input.clusterId, input.fromMs, input.toMs)),
  range: procedure.input(rangeSchema).query(({ ctx, input: { clusterId, ...request } }) => ctx.services.live.range(clusterId, request)),
  measured: procedure
    .input(measuredRangeSchema)
    .query(({ ctx, input: { clusterId, range } }) => ctx.services.live.measured(clusterId, range)),
  plans: procedure.input(plansInForceSchema).query(({ ctx, input }) => ctx.services.live.plans(input.clusterId, input.fromMs, input.toMs)),
});
