import { readFile, stat } from "node:fs/promises";
import { totalmem } from "node:os";
import { isAbsolute, join } from "node:path";
import type { Outcome } from "@/server/contracts/studio";
import { isLoopback } from "@/server/lib/clientAddress";
import { findGpu, findModel } from "@/solver/hardware/aliases";
import type { UserCards, UserModel } from "@/solver/hardware/cardSchema";
import { type CardCatalogue, catalogueOf } from "@/solver/hardware/catalogue";
import { parseHuggingFaceConfig } from "@/solver/hardware/huggingFaceConfig";
import { withCards } from "@/solver/hardware/measuredProfile";
import { PROCESSOR_CARD, processorCard } from "@/solver/hardware/processorCard";
import type { InspectedEngine } from "./inspectEngine";

/** The cards that a measurement is filed under. */
export interface MeasuredCards {
  readonly model: string;
  readonly gpu: string;
  /** Of these two, the cards that are not shipped. */
  readonly cards: UserCards;
}

/**
 * The cards of an engine's model and hardware: the user's or shipped ones, else a card from the configuration in the folder that the engine
 * loaded, and `cpu-core` for an engine on this host's processor. A folder is read only where the engine's address is this host's loopback: the
 * engine names the folder, and another host's engine names no file of this one.
 *
 * @param url root of the engine's API.
 * @param gpu id or name of the GPU card; undefined: this host's processor.
 */
export async function measuredCards(
  { served, root, contextTokens }: InspectedEngine,
  { url, gpu }: { readonly url: string; readonly gpu: string | undefined },
  { userCards, catalogue }: { readonly userCards: UserCards; readonly catalogue: CardCatalogue },
): Promise<Outcome<MeasuredCards>> {
  const gpuName = gpu ?? PROCESSOR_CARD;
  const foundGpu = findGpu(gpuName, catalogue.gpus);
  if (foundGpu === undefined && gpuName !== PROCESSOR_CARD)
    return { ok: false, message: `There is no GPU card "${gpuName}": add one on the Cards page, or in the file of --cards.` };
  const known = findModel(served, catalogue.models) ?? (root === null ? undefined : findModel(root, catalogue.models));
  const made = known === undefined ? await cardOfFolder(served, isLoopback(new URL(url).hostname) ? root : null, contextTokens) : null;
  if (known === undefined && made === null)
    return { ok: false, message: `There is no model card of "${served}": add one on the Cards page, or in the file of --cards.` };
  const modelId = known?.card.id ?? made?.id ?? served;
  const gpuId = foundGpu?.id ?? PROCESSOR_CARD;
  const own: UserCards = {
    models: made === null ? userCards.models.filter(({ id }) => id === modelId) : [made],
    gpus: foundGpu === undefined ? [processorCard(totalmem())] : userCards.gpus.filter(({ id }) => id === gpuId),
    prices: Object.fromEntries(Object.entries(userCards.prices).filter(([id]) => id === gpuId)),
  };
  return { ok: true, model: modelId, gpu: gpuId, cards: own };
}

/** The catalogue of the user's cards with those of a measurement that it lacks. */
export const catalogueWith = (userCards: UserCards, { cards }: Pick<MeasuredCards, "cards">): CardCatalogue =>
  catalogueOf(withCards(userCards, cards));

/** Most bytes of a model's `config.json`: those of published models have a few thousand. */
const MOST_CONFIG_BYTES = 1_000_000;

/** A card from the `config.json` in a folder of this host, named by an absolute path; null without a readable file of at most 1 MB. */
async function cardOfFolder(served: string, root: string | null, contextTokens: number | null): Promise<UserModel | null> {
  if (root === null || !isAbsolute(root)) return null;
  const path = join(root, "config.json");
  const found = await stat(path).catch(() => null);
  if (found === null || !found.isFile() || found.size > MOST_CONFIG_BYTES) return null;
  const text = await readFile(path, "utf8").catch(() => null);
  if (text === null) return null;
  const read = parseHuggingFaceConfig(jsonIn(text));
  if (!read.ok) return null;
  const id =
    served
      .split("/")
      .at(-1)
      ?.replaceAll(/[^A-Za-z0-9._-]+/g, "-")
      .replace(/^[^A-Za-z0-9]+/, "")
      .slice(0, 80) ?? "";
  if (id === "") return null;
  return {
    ...{ id, huggingFace: null, architecture: read.architecture, precision: read.precision, quantized: read.quantized, kvBytesPerValue: 2 },
    publishedParamsB: null,
    maxContextTokens: contextTokens ?? read.maxContextTokens ?? 2048,
    source: "config.json of the folder that the engine loaded",
  };
}

function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
