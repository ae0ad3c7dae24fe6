import { archiveSchema, eraseCapturedSchema, promptsOfGatewaySchema, samplePromptsSchema } from "@/server/contracts/studio/prompts";
import { byId } from "../base/inputs";
import { procedureFor, router } from "./trpc";

export const promptsRouter = router({
  list: procedureFor("read").query(({ ctx }) => ctx.services.prompts.list()),
  sample: procedureFor("prepare")
    .input(samplePromptsSchema)
    .mutation(({ ctx, input }) => ctx.services.prompts.sample(input, ctx.caller.name)),
  takeFromGateway: procedureFor("capture")
    .input(promptsOfGatewaySchema)
    .mutation(({ ctx, input }) => ctx.services.prompts.takeFromGateway(input, ctx.caller.name)),
  eraseCaptured: procedureFor("capture")
    .input(eraseCapturedSchema)
    .mutation(({ ctx, input }) => ctx.services.prompts.eraseCaptured(input, ctx.caller.name)),
  archive: procedureFor("prepare")
    .input(archiveSchema)
    .mutation(({ ctx, input }) => ctx.services.prompts.archive(input.uploadId)),
  deleteTexts: procedureFor("capture")
    .input(byId)
    .mutation(({ ctx, input }) => ctx.services.prompts.deleteTexts(input.id, ctx.caller.name)),
});
