import { clusterDescriptionSchema } from "./inputs";
import { procedure, router } from "./trpc";

export const clustersRouter = router({
  list: procedure.query(({ ctx }) => ctx.services.clusters.list()),
  gpus: procedure.query(({ ctx }) => ctx.services.clusters.gpus()),
  describe: procedure.input(clusterDescriptionSchema).mutation(({ ctx, input }) => ctx.services.clusters.describe(input, ctx.session.name)),
});
