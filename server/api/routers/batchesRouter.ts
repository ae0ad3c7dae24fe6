import { z } from "zod";
import { batchExportSchema, batchRequestSchema } from "@/server/contracts/studio/batches";
import { never, procedure, router } from "./trpc";

const id = z.object({ id: z.string().min(1) });
export const batchesRouter = router({
  list: procedure.query(({ ctx }) => ctx.services.batches.list()),
  get: procedure.input(id).query(({ ctx, input }) => ctx.services.batches.get(input.id)),
  room: procedure
    .input(batchRequestSchema.pick({ clusterId: true, gpusPerWorker: true }))
    .query(({ ctx, input, signal }) => ctx.services.batches.room(input, signal ?? never())),
  preview: procedure.input(batchRequestSchema).query(({ ctx, input, signal }) => ctx.services.batches.preview(input, signal ?? never())),
  start: procedure
    .input(batchRequestSchema)
    .mutation(({ ctx, input, signal }) => ctx.services.batches.start(input, signal ?? never(), ctx.session.name)),
  pause: procedure.input(id).mutation(({ ctx, input }) => ctx.services.batches.pause(input.id, ctx.session.name)),
  resume: procedure.input(id).mutation(({ ctx, input }) => ctx.services.batches.resume(input.id, ctx.session.name)),
  stop: procedure.input(id).mutation(({ ctx, input }) => ctx.services.batches.stop(input.id, ctx.session.name)),
  remove: procedure.input(id).mutation(({ ctx, input }) => ctx.services.batches.remove(input.id, ctx.session.name)),
  export: procedure.input(batchExportSchema).mutation(({ ctx, input, signal }) => ctx.services.batches.export(input, signal ?? never())),
});
