import { loadSchema } from "../base/inputs";
import { procedure, router } from "../base/trpc";

export const loadRouter = router({
  start: procedure.input(loadSchema).mutation(({ ctx, input }) => ctx.services.load.start(input, ctx.session.name)),
  stop: procedure.mutation(({ ctx }) => ctx.services.load.stop(ctx.session.name)),
  status: procedure.query(({ ctx }) => ctx.services.load.status()),
});
