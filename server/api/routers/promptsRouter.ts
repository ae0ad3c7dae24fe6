import { archiveSchema, eraseCapturedSchema, promptsOfGatewaySchema, samplePromptsSchema } from "@/server/contracts/studio/prompts";
import { byId } from "../base/inputs";
import { procedure, router } from "./trpc";

export const promptsRouter = router({
  list: procedure.query(({ ctx }) => ctx.services.prompts.list()),
  sample: procedure.input(samplePromptsSchema).mutation(({ ctx, input }) => ctx.services.prompts.sample(input, ctx.session.name)),
  takeFromGateway: procedure
    .input(promptsOfGatewaySchema)
    .mutation(({ ctx, input }) => ctx.services.prompts.takeFromGateway(input, ctx.session.name)),
  eraseCaptured: procedure
    .input(eraseCapturedSchema)
    .mutation(({ ctx, input }) => ctx.services.prompts.eraseCaptured(input, ctx.session.name)),
  archive: procedure.input(archiveSchema).mutation(({ ctx, input }) => ctx.services.prompts.archive(input.uploadId)),
  deleteTexts: procedure.input(byId).mutation(({ ctx, input }) => ctx.services.prompts.deleteTexts(input.id, ctx.session.name)),
});
