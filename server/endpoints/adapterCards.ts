import type { UserCards, UserModel } from "@/solver/hardware/cardSchema";
import { cardOf, catalogueOf } from "@/solver/hardware/catalogue";
import type { Endpoint } from "./connection";

/**
 * The user's cards with one for each adapter that has none: the figures of its parent's card, since it adds little to the parent's work.
 * An adapter of a model without a card gets none.
 */
export function withAdapterCards(userCards: UserCards, endpoints: readonly Pick<Endpoint, "model" | "adapterOf">[]): UserCards {
  const { models: cards } = catalogueOf(userCards);
  const made = new Map<string, UserModel>();
  for (const { model, adapterOf } of endpoints) {
    const parent = adapterOf === undefined ? undefined : cardOf(cards, adapterOf);
    if (parent === undefined || cardOf(cards, model) !== undefined) continue;
    const { paramsB: _, provenance: __, ...described } = parent;
    const kvBytesPerValue = described.kvBytesPerValue === 1 ? 1 : 2;
    made.set(model, { ...described, id: model, huggingFace: null, kvBytesPerValue, source: `an adapter of ${parent.id}` });
  }
  return made.size === 0 ? userCards : { ...userCards, models: [...userCards.models, ...made.values()] };
}
