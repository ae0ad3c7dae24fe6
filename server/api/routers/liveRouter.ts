import { tracked } from "@trpc/server";
import { quantities } from "@/server/series/quantities";
import { liveStreamSchema, measuredRangeSchema, plansInForceSchema, rangeSchema, subjectsSchema } from "../base/inputs";
import { procedureFor, router } from "./trpc";

export const liveRouter = router({
  /** All present data for a tab. */
  stream: procedureFor("read")
    .input(liveStreamSchema)
    .subscription(async function* ({ ctx, input, signal }) {
      if (signal === undefined) return;
      for await (const { id, event } of ctx.services.live.stream(input, signal)) yield tracked(id, event);
    }),
  /** The stored quantities, with units. */
  quantities: procedureFor("read").query(() => quantities),
  subjects: procedureFor("read")
    .input(subjectsSchema)
    .query(({ ctx, input }) => ctx.services.live.subjects(input.clusterId, input.fromMs, input.toMs)),
  range: procedureFor("read")
    .input(rangeSchema)
    .query(({ ctx, input: { clusterId, ...request } }) => ctx.services.live.range(clusterId, request)),
  measured: procedureFor("read")
    .input(measuredRangeSchema)
    .query(({ ctx, input: { clusterId, range } }) => ctx.services.live.measured(clusterId, range)),
  plans: procedureFor("read")
    .input(plansInForceSchema)
    .query(({ ctx, input }) => ctx.services.live.plans(input.clusterId, input.fromMs, input.toMs)),
});
