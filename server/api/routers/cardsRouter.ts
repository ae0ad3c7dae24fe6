import { userGpuSchema, userModelSchema } from "@/solver/hardware/cardSchema";
import { cardSchema, configTextSchema, priceSchema } from "../base/inputs";
import { procedure, router } from "./trpc";

export const cardsRouter = router({
  list: procedure.query(({ ctx }) => ctx.services.cards.list()),
  readModel: procedure.input(configTextSchema).mutation(({ ctx, input }) => ctx.services.cards.readModel(input.text)),
  addModel: procedure.input(userModelSchema).mutation(({ ctx, input }) => ctx.services.cards.addModel(input, ctx.session.name)),
  addGpu: procedure.input(userGpuSchema).mutation(({ ctx, input }) => ctx.services.cards.addGpu(input, ctx.session.name)),
  remove: procedure.input(cardSchema).mutation(({ ctx, input }) => ctx.services.cards.remove(input.kind, input.id, ctx.session.name)),
  setPrice: procedure
    .input(priceSchema)
    .mutation(({ ctx, input }) => ctx.services.cards.setPrice(input.gpu, input.usdPerGpuHour, ctx.session.name)),
});
