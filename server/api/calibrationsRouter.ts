import { byId, checkSchema, fitSchema, keepProfileSchema } from "./inputs";
import { procedure, router } from "./trpc";

export const calibrationsRouter = router({
  list: procedure.query(({ ctx }) => ctx.services.calibrations.list()),
  check: procedure.input(checkSchema).subscription(async function* ({ ctx, input, signal }) {
    yield* ctx.services.calibrations.check(input, signal ?? new AbortController().signal);
  }),
  startFit: procedure.input(fitSchema).mutation(({ ctx, input }) => ctx.services.calibrations.startFit(input)),
  fit: procedure.input(byId).query(({ ctx, input }) => ctx.services.calibrations.fit(input.id)),
  stopFit: procedure.input(byId).mutation(({ ctx, input }) => ctx.services.calibrations.stopFit(input.id)),
  keep: procedure.input(keepProfileSchema).mutation(({ ctx, input }) => ctx.services.calibrations.keep(input.profile, ctx.session.name)),
  use: procedure.input(byId).mutation(({ ctx, input }) => ctx.services.calibrations.use(input.id, ctx.session.name)),
  remove: procedure.input(byId).mutation(({ ctx, input }) => ctx.services.calibrations.remove(input.id, ctx.session.name)),
});
