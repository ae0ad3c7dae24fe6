import { type UserCards, type UserModel, userModelSchema } from "@/solver/hardware/cardSchema";
import { type RealModel, realModels } from "./realModel";
import { TOKENS } from "./vocabulary";

/** The cards of the real models as they are served, deepened. */
export const realModelCards: readonly UserModel[] = realModels.map(cardOf);

/** The user's cards with those of the real models, in place of cards with their ids. */
export function withRealModelCards(cards: UserCards): UserCards {
  const ids = new Set(realModelCards.map(({ id }) => id));
  return { ...cards, models: [...cards.models.filter(({ id }) => !ids.has(id)), ...realModelCards] };
}

function cardOf({ name, width, heads, trainedLayers, extraLayers, contextTokens }: RealModel): UserModel {
  return userModelSchema.parse({
    id: name,
    architecture: {
      layers: trainedLayers + extraLayers,
      hidden: width,
      attention: { kind: "gqa", heads, kvHeads: heads, headDim: width / heads, qkvBias: false },
      feedForward: { kind: "dense", ffn: 3 * width },
      vocabulary: TOKENS.length,
      tiedEmbeddings: false,
      normsPerLayer: 2,
      slidingWindow: null,
    },
    precision: "bf16",
    maxContextTokens: contextTokens,
    source: `Arith family, models/${name}: ${trainedLayers} trained layers and ${extraLayers} that add nothing`,
  });
}
