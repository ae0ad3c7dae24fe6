import { realSetupOrderSchema } from "@/server/contracts/studio/realSetup";
import { never, procedureFor, router } from "./trpc";

export const realSetupRouter = router({
  status: procedureFor("read").query(({ ctx }) => ctx.services.realSetup.status()),
  /** The state now and whenever it changes. */
  follow: procedureFor("read").subscription(({ ctx, signal }) => ctx.services.realSetup.follow(signal ?? never())),
  start: procedureFor("attach")
    .input(realSetupOrderSchema)
    .mutation(({ ctx, input }) => ctx.services.realSetup.start(input, ctx.caller.name)),
  stop: procedureFor("attach").mutation(({ ctx }) => ctx.services.realSetup.stop(ctx.caller.name)),
  remove: procedureFor("attach").mutation(({ ctx }) => ctx.services.realSetup.remove(ctx.caller.name)),
});
