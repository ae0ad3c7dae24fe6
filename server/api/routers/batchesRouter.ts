import { z } from "zod";
import { batchExportSchema, batchRequestSchema } from "@/server/contracts/studio/batches";
import { never, procedureFor, router } from "./trpc";

const id = z.object({ id: z.string().min(1) });
export const batchesRouter = router({
  list: procedureFor("read").query(({ ctx }) => ctx.services.batches.list()),
  get: procedureFor("read")
    .input(id)
    .query(({ ctx, input }) => ctx.services.batches.get(input.id)),
  room: procedureFor("read")
    .input(batchRequestSchema.pick({ clusterId: true, gpusPerWorker: true }))
    .query(({ ctx, input, signal }) => ctx.services.batches.room(input, signal ?? never())),
  preview: procedureFor("read")
    .input(batchRequestSchema)
    .query(({ ctx, input, signal }) => ctx.services.batches.preview(input, signal ?? never())),
  start: procedureFor("operate")
    .input(batchRequestSchema)
    .mutation(({ ctx, input, signal }) => ctx.services.batches.start(input, signal ?? never(), ctx.caller.name)),
  pause: procedureFor("operate")
    .input(id)
    .mutation(({ ctx, input }) => ctx.services.batches.pause(input.id, ctx.caller.name)),
  resume: procedureFor("operate")
    .input(id)
    .mutation(({ ctx, input }) => ctx.services.batches.resume(input.id, ctx.caller.name)),
  stop: procedureFor("operate")
    .input(id)
    .mutation(({ ctx, input }) => ctx.services.batches.stop(input.id, ctx.caller.name)),
  remove: procedureFor("operate")
    .input(id)
    .mutation(({ ctx, input }) => ctx.services.batches.remove(input.id, ctx.caller.name)),
  export: procedureFor("operate")
    .input(batchExportSchema)
    .mutation(({ ctx, input, signal }) => ctx.services.batches.export(input, signal ?? never())),
});
