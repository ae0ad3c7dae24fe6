import { parameterCount } from "./architecture";
import { type UserCards, type UserModel, userCardsSchema } from "./cardSchema";
import { type GpuCard, gpuCards } from "./gpus";
import type { ModelCard } from "./modelCard";
import { modelCards } from "./models";

/** All available cards, by id: the shipped ones and the user's. */
export interface CardCatalogue {
  readonly models: Readonly<Record<string, ModelCard>>;
  readonly gpus: Readonly<Record<string, GpuCard>>;
}

/** No user cards or prices. */
export const noUserCards: UserCards = { models: [], gpus: [], prices: {} };

/** The card of a model the user described. */
const userModelCard = ({ source, ...model }: UserModel): ModelCard => ({
  ...model,
  paramsB: parameterCount(model.architecture) / 1e9,
  provenance: { kind: "published", source },
});

/** The shipped cards plus the user's, with the user's prices instead of list prices. */
export function catalogueOf({ models, gpus, prices }: UserCards): CardCatalogue {
  const unpriced: readonly GpuCard[] = [
    ...Object.values(gpuCards),
    ...gpus.map(({ source, ...gpu }) => ({ ...gpu, usdPerGpuHour: null, price: null, provenance: { kind: "published", source } as const })),
  ];
  return {
    models: { ...modelCards, ...Object.fromEntries(models.map((model) => [model.id, userModelCard(model)])) },
    gpus: Object.fromEntries(
      unpriced.map((card) => {
        const own = Object.hasOwn(prices, card.id) ? prices[card.id] : undefined;
        if (own === undefined) return [card.id, card];
        const { usdPerGpuHour, asOf } = own;
        return [card.id, { ...card, usdPerGpuHour, price: { provider: "yours", asOf, source: "set by you" } }];
      }),
    ),
  };
}

/** The card of an id; undefined when there is none, also for names of properties that every object has. */
export const cardOf = <Card>(cards: Readonly<Record<string, Card>>, id: string): Card | undefined =>
  Object.hasOwn(cards, id) ? cards[id] : undefined;

/**
 * The user's cards from the contents of a `cards.json`.
 *
 * @param file the file's name in the message.
 * @returns the cards, or one sentence with the file, the field and what is wrong with it.
 */
export function readUserCards(
  text: string,
  file: string,
): { readonly ok: true; readonly cards: UserCards } | { readonly ok: false; readonly message: string } {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch (problem) {
    return { ok: false, message: `${file} is no JSON: ${problem instanceof Error ? problem.message : problem}.` };
  }
  const parsed = userCardsSchema.safeParse(json);
  const issue = parsed.success ? misplaced(parsed.data) : parsed.error.issues[0];
  if (parsed.success && issue === undefined) return { ok: true, cards: parsed.data };
  return { ok: false, message: `${file}: ${issue?.path.join(".") || "the whole file"}: ${issue?.message}.` };
}

/** The error in cards that are each well formed: the id of a shipped card, the price of an unknown GPU. */
export function misplaced({
  models,
  gpus,
  prices,
}: UserCards): { readonly path: readonly (string | number)[]; readonly message: string } | undefined {
  const model = models.findIndex((card) => Object.hasOwn(modelCards, card.id));
  if (model >= 0) return { path: ["models", model, "id"], message: "a shipped model has this id, give another" };
  const gpu = gpus.findIndex((card) => Object.hasOwn(gpuCards, card.id));
  if (gpu >= 0) return { path: ["gpus", gpu, "id"], message: "a shipped GPU has this id, give another, or its price under prices" };
  const stranger = Object.keys(prices).find((id) => !Object.hasOwn(gpuCards, id) && gpus.every((card) => card.id !== id));
  return stranger === undefined ? undefined : { path: ["prices", stranger], message: "there is no card of this GPU" };
}
