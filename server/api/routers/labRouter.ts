import { labRunSchema, labSpecSchema, labSuggestionSchema } from "@/server/contracts/studio/lab";
import { byId } from "../base/inputs";
import { procedure, router } from "./trpc";

export const labRouter = router({
  workflows: procedure.query(({ ctx }) => ctx.services.lab.workflows()),
  suggest: procedure.input(labSuggestionSchema).mutation(({ ctx, input }) => ctx.services.lab.suggest(input)),
  start: procedure.input(labSpecSchema).mutation(({ ctx, input }) => ctx.services.lab.start(input, ctx.session.name)),
  list: procedure.query(({ ctx }) => ctx.services.lab.list()),
  get: procedure.input(labRunSchema).query(({ ctx, input }) => ctx.services.lab.get(input.id, input.since)),
  cancel: procedure.input(byId).mutation(({ ctx, input }) => ctx.services.lab.cancel(input.id, ctx.session.name)),
  remove: procedure.input(byId).mutation(({ ctx, input }) => ctx.services.lab.remove(input.id, ctx.session.name)),
});
