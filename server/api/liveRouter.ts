import { tracked } from "@trpc/server";
import { z } from "zod";
import { quantities } from "@/server/series/quantities";
import { byCluster, rangeSchema, subjectsSchema } from "./inputs";
import { procedure, router } from "./trpc";

const streamSchema = byCluster.extend({
  /** Set by the client when it reconnects: the last frame it saw. */
  lastEventId: z.string().optional(),
});

export const liveRouter = router({
  history: procedure.input(byCluster).query(({ ctx, input }) => ctx.services.live.history(input.clusterId)),
  stream: procedure.input(streamSchema).subscription(async function* ({ ctx, input, signal }) {
    if (signal === undefined) return;
    const afterMs = Number(input.lastEventId ?? Date.now());
    for await (const frame of ctx.services.live.follow({ clusterId: input.clusterId, afterMs, signal })) {
      yield tracked(String(frame.atMs), frame);
    }
  }),
  decisions: procedure
    .input(byCluster.extend({ limit: z.int().min(1).max(1000) }))
    .query(({ ctx, input }) => ctx.services.live.decisions(input.clusterId, input.limit)),
  /** What is kept over time, with units. */
  quantities: procedure.query(() => quantities),
  subjects: procedure
    .input(subjectsSchema)
    .query(({ ctx, input }) => ctx.services.live.subjects(input.clusterId, input.fromMs, input.toMs)),
  range: procedure.input(rangeSchema).query(({ ctx, input: { clusterId, ...request } }) => ctx.services.live.range(clusterId, request)),
});
