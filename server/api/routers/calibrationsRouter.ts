import { byId, byUpload, checkSchema, fitSchema, keepProfileSchema, liveTableSchema } from "../base/inputs";
import { never, procedureFor, router } from "./trpc";

export const calibrationsRouter = router({
  list: procedureFor("read").query(({ ctx }) => ctx.services.calibrations.list()),
  calibrateFromLive: procedureFor("prepare")
    .input(liveTableSchema)
    .mutation(({ ctx, input }) => ctx.services.calibrations.calibrateFromLive(input)),
  liveRows: procedureFor("read")
    .input(byUpload)
    .query(({ ctx, input }) => ctx.services.calibrations.liveRows(input.uploadId)),
  table: procedureFor("read")
    .input(byUpload)
    .query(({ ctx, input }) => ctx.services.calibrations.table(input.uploadId)),
  check: procedureFor("read")
    .input(checkSchema)
    .subscription(async function* ({ ctx, input, signal }) {
      yield* ctx.services.calibrations.check(input, signal ?? never());
    }),
  startFit: procedureFor("prepare")
    .input(fitSchema)
    .mutation(({ ctx, input }) => ctx.services.calibrations.startFit(input)),
  fit: procedureFor("read")
    .input(byId)
    .query(({ ctx, input }) => ctx.services.calibrations.fit(input.id)),
  stopFit: procedureFor("prepare")
    .input(byId)
    .mutation(({ ctx, input }) => ctx.services.calibrations.stopFit(input.id)),
  keep: procedureFor("prepare")
    .input(keepProfileSchema)
    .mutation(({ ctx, input }) => ctx.services.calibrations.keep(input.profile, ctx.caller.name)),
  importProfile: procedureFor("prepare")
    .input(keepProfileSchema)
    .mutation(({ ctx, input }) => ctx.services.calibrations.importProfile(input.profile, ctx.caller.name)),
  use: procedureFor("prepare")
    .input(byId)
    .mutation(({ ctx, input }) => ctx.services.calibrations.use(input.id, ctx.caller.name)),
  remove: procedureFor("prepare")
    .input(byId)
    .mutation(({ ctx, input }) => ctx.services.calibrations.remove(input.id, ctx.caller.name)),
});
