import { labRunSchema, labSpecSchema, labSuggestionSchema } from "@/server/contracts/studio/lab";
import { byId } from "../base/inputs";
import { procedureFor, router } from "./trpc";

export const labRouter = router({
  workflows: procedureFor("read").query(({ ctx }) => ctx.services.lab.workflows()),
  suggest: procedureFor("prepare")
    .input(labSuggestionSchema)
    .mutation(({ ctx, input }) => ctx.services.lab.suggest(input)),
  start: procedureFor("prepare")
    .input(labSpecSchema)
    .mutation(({ ctx, input }) => ctx.services.lab.start(input, ctx.caller.name)),
  list: procedureFor("read").query(({ ctx }) => ctx.services.lab.list()),
  get: procedureFor("read")
    .input(labRunSchema)
    .query(({ ctx, input }) => ctx.services.lab.get(input.id, input.since)),
  cancel: procedureFor("prepare")
    .input(byId)
    .mutation(({ ctx, input }) => ctx.services.lab.cancel(input.id, ctx.caller.name)),
  remove: procedureFor("prepare")
    .input(byId)
    .mutation(({ ctx, input }) => ctx.services.lab.remove(input.id, ctx.caller.name)),
});
