import { z } from "zod";
import { trainRequestSchema } from "@/server/contracts/gateway/artefacts";
import { procedureFor, router } from "./trpc";

const byHash = z.object({ hash: z.string().regex(/^[0-9a-f]{64}$/) });

export const artefactsRouter = router({
  list: procedureFor("read").query(({ ctx }) => ctx.services.artefacts.list()),
  state: procedureFor("read").query(({ ctx }) => ctx.services.artefacts.state()),
  train: procedureFor("prepare")
    .input(trainRequestSchema)
    .mutation(({ ctx, input }) => ctx.services.artefacts.train(input, ctx.caller.name)),
  cancel: procedureFor("prepare").mutation(({ ctx }) => ctx.services.artefacts.cancel(ctx.caller.name)),
  remove: procedureFor("prepare")
    .input(byHash)
    .mutation(({ ctx, input }) => ctx.services.artefacts.remove(input.hash, ctx.caller.name)),
});
