import { byId, byUpload, checkSchema, fitSchema, keepProfileSchema, liveTableSchema } from "../base/inputs";
import { never, procedure, router } from "./trpc";

export const calibrationsRouter = router({
  list: procedure.query(({ ctx }) => ctx.services.calibrations.list()),
  calibrateFromLive: procedure.input(liveTableSchema).mutation(({ ctx, input }) => ctx.services.calibrations.calibrateFromLive(input)),
  liveRows: procedure.input(byUpload).query(({ ctx, input }) => ctx.services.calibrations.liveRows(input.uploadId)),
  table: procedure.input(byUpload).query(({ ctx, input }) => ctx.services.calibrations.table(input.uploadId)),
  check: procedure.input(checkSchema).subscription(async function* ({ ctx, input, signal }) {
    yield* ctx.services.calibrations.check(input, signal ?? never());
  }),
  startFit: procedure.input(fitSchema).mutation(({ ctx, input }) => ctx.services.calibrations.startFit(input)),
  fit: procedure.input(byId).query(({ ctx, input }) => ctx.services.calibrations.fit(input.id)),
  stopFit: procedure.input(byId).mutation(({ ctx, input }) => ctx.services.calibrations.stopFit(input.id)),
  keep: procedure.input(keepProfileSchema).mutation(({ ctx, input }) => ctx.services.calibrations.keep(input.profile, ctx.session.name)),
  importProfile: procedure
    .input(keepProfileSchema)
    .mutation(({ ctx, input }) => ctx.services.calibrations.importProfile(input.profile, ctx.session.name)),
  use: procedure.input(byId).mutation(({ ctx, input }) => ctx.services.calibrations.use(input.id, ctx.session.name)),
  remove: procedure.input(byId).mutation(({ ctx, input }) => ctx.services.calibrations.remove(input.id, ctx.session.name)),
});
