import { promptsOfGatewaySchema, putAwaySchema, samplePromptsSchema } from "@/server/contracts/prompts";
import { byId } from "./inputs";
import { procedure, router } from "./trpc";

export const promptsRouter = router({
  list: procedure.query(({ ctx }) => ctx.services.prompts.list()),
  sample: procedure.input(samplePromptsSchema).mutation(({ ctx, input }) => ctx.services.prompts.sample(input, ctx.session.name)),
  takeFromGateway: procedure
    .input(promptsOfGatewaySchema)
    .mutation(({ ctx, input }) => ctx.services.prompts.takeFromGateway(input, ctx.session.name)),
  putAway: procedure.input(putAwaySchema).mutation(({ ctx, input }) => ctx.services.prompts.putAway(input.uploadId)),
  deleteTexts: procedure.input(byId).mutation(({ ctx, input }) => ctx.services.prompts.deleteTexts(input.id, ctx.session.name)),
});
