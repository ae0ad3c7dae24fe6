import { type Architecture, activeParams } from "@/solver/hardware/architecture";
import { type MemoryFit, memoryFit } from "@/solver/hardware/memoryFit";
import { atPrecision } from "@/solver/hardware/modelCard";
import type { Outputs } from "../api/trpc";
import { formatCount } from "../ui/format";
import type { CardsView } from "./cardsCodec";

export type CardList = Outputs["cards"]["list"];
export type ModelEntry = CardList["models"][number];
export type GpuEntry = CardList["gpus"][number];

const PRECISION_BYTES = { bf16: 2, fp8: 1 } as const;

/** Cards whose id, name or source holds every word that is searched for; the user's own first. */
export function findCards<Card extends ModelEntry | GpuEntry>(cards: readonly Card[], find: string): readonly Card[] {
  const words = find.toLowerCase().split(/\s+/).filter(Boolean);
  const text = (card: Card): string =>
    [card.id, "name" in card ? card.name : card.huggingFace, card.provenance.source].join(" ").toLowerCase();
  const found = cards.filter((card) => words.every((word) => text(card).includes(word)));
  return [...found.filter((card) => card.own), ...found.filter((card) => !card.own)];
}

/** Parameters in words: `8.03 B`, `671 B, 37.6 B active`. */
export function paramsText({ paramsB, architecture }: Pick<ModelEntry, "paramsB" | "architecture">): string {
  const digits = (billions: number): string => `${billions.toLocaleString("en-US", { maximumSignificantDigits: 3 })}\u00a0B`;
  return architecture.feedForward.kind === "dense"
    ? digits(paramsB)
    : `${digits(paramsB)}, ${digits(activeParams(architecture) / 1e9)} active`;
}

/** Attention and feed-forward layers, one line each. */
export function architectureText({ attention, feedForward, slidingWindow, layers }: Architecture): {
  readonly attention: string;
  readonly feedForward: string;
} {
  const window =
    slidingWindow === null
      ? ""
      : `; ${formatCount(slidingWindow.tokens)} tokens of window in ${Math.round(slidingWindow.layersShare * layers)} of ${layers} layers`;
  const heads =
    attention.kind === "gqa"
      ? `${attention.heads} heads over ${attention.kvHeads} KV heads of ${attention.headDim}`
      : `latent (MLA), ${attention.heads} heads over a latent of ${attention.kvRank} + ${attention.ropeDim}`;
  if (feedForward.kind === "dense") return { attention: heads + window, feedForward: `dense, ${formatCount(feedForward.ffn)} wide` };
  const { experts, expertsPerToken, expertFfn, shared, denseLayers } = feedForward;
  const parts = [
    `${expertsPerToken} of ${experts} experts, each ${formatCount(expertFfn)} wide`,
    ...(shared === null ? [] : [`${shared.count} shared`]),
    ...(denseLayers === null ? [] : [`dense in ${denseLayers.count} layers, ${formatCount(denseLayers.ffn)} wide`]),
  ];
  return { attention: heads + window, feedForward: parts.join("; ") };
}

/** Whether the model fits with these settings; null where the address names a card that does not exist. */
export function fitOf({ models, gpus }: Pick<CardList, "models" | "gpus">, view: CardsView): MemoryFit | null {
  const model = models.find((card) => card.id === view.model);
  const gpu = gpus.find((card) => card.id === view.gpu);
  if (model === undefined || gpu === undefined) return null;
  const card = atPrecision(model, view.precision ?? model.precision, PRECISION_BYTES[view.kv]);
  return memoryFit(card, gpu, { tp: view.tp, pp: view.pp }, view.memory / 100);
}
