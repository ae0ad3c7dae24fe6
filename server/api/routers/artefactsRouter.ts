import { z } from "zod";
import { trainRequestSchema } from "@/server/contracts/gateway/artefacts";
import { procedure, router } from "./trpc";

const byHash = z.object({ hash: z.string().regex(/^[0-9a-f]{64}$/) });

export const artefactsRouter = router({
  list: procedure.query(({ ctx }) => ctx.services.artefacts.list()),
  state: procedure.query(({ ctx }) => ctx.services.artefacts.state()),
  train: procedure.input(trainRequestSchema).mutation(({ ctx, input }) => ctx.services.artefacts.train(input, ctx.session.name)),
  cancel: procedure.mutation(({ ctx }) => ctx.services.artefacts.cancel(ctx.session.name)),
  remove: procedure.input(byHash).mutation(({ ctx, input }) => ctx.services.artefacts.remove(input.hash, ctx.session.name)),
});
