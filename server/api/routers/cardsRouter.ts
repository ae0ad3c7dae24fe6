import { userGpuSchema, userModelSchema } from "@/solver/hardware/cardSchema";
import { cardSchema, configTextSchema, priceSchema } from "../base/inputs";
import { procedureFor, router } from "./trpc";

export const cardsRouter = router({
  list: procedureFor("read").query(({ ctx }) => ctx.services.cards.list()),
  readModel: procedureFor("prepare")
    .input(configTextSchema)
    .mutation(({ ctx, input }) => ctx.services.cards.readModel(input.text)),
  addModel: procedureFor("prepare")
    .input(userModelSchema)
    .mutation(({ ctx, input }) => ctx.services.cards.addModel(input, ctx.caller.name)),
  addGpu: procedureFor("prepare")
    .input(userGpuSchema)
    .mutation(({ ctx, input }) => ctx.services.cards.addGpu(input, ctx.caller.name)),
  remove: procedureFor("prepare")
    .input(cardSchema)
    .mutation(({ ctx, input }) => ctx.services.cards.remove(input.kind, input.id, ctx.caller.name)),
  setPrice: procedureFor("prepare")
    .input(priceSchema)
    .mutation(({ ctx, input }) => ctx.services.cards.setPrice(input.gpu, input.usdPerGpuHour, ctx.caller.name)),
});
