import { measuringSchema } from "../base/inputs";
import { procedureFor, router } from "./trpc";

export const measuringRouter = router({
  state: procedureFor("read").query(({ ctx }) => ctx.services.measuring.state()),
  // A mutation, for those who may attach: it asks an address of the caller's choice.
  announce: procedureFor("attach")
    .input(measuringSchema)
    .mutation(({ ctx, input }) => ctx.services.measuring.announce(input, ctx.caller.name)),
  start: procedureFor("attach")
    .input(measuringSchema)
    .mutation(({ ctx, input }) => ctx.services.measuring.start(input, ctx.caller.name)),
  stop: procedureFor("operate").mutation(({ ctx }) => ctx.services.measuring.stop()),
});
