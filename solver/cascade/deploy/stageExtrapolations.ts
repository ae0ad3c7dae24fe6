import { extrapolations } from "@/solver/calibration/extrapolations";
import { type CardCatalogue, cardOf } from "@/solver/hardware/catalogue";
import type { EngineProfile } from "@/solver/hardware/engineProfile";
import { MAX_SEQUENCES } from "@/solver/hardware/replicaShapes";
import type { DeployedStage } from "./deployedStage";

/** The requests that the replicas of a stage serve. */
interface ServedLoad {
  /** Mean tokens of a request and of its answer. */
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** Requests at the stage at once, on average over time: its rate times the mean time of a request there. */
  readonly inFlight: number;
}

/** In which respects a stage's replicas, at their load, are outside the runs that their profile was fitted to; none for an unknown model. */
export function stageExtrapolations(
  { model, replicas }: Pick<DeployedStage, "model" | "replicas">,
  { inputTokens, outputTokens, inFlight }: ServedLoad,
  { profile, cards }: { readonly profile: EngineProfile; readonly cards: CardCatalogue },
): string[] {
  const card = cardOf(cards.models, model);
  if (card === undefined) return [];
  const count = replicas.reduce((sum, one) => sum + one.count, 0);
  const reasons = replicas.flatMap(({ gpu, shape }) =>
    extrapolations(
      {
        engine: profile.engine,
        model: card.id,
        gpu,
        precision: card.precision,
        kvPrecision: card.kvBytesPerValue < 2 ? "fp8" : "bf16",
        shape,
        inputTokens: Math.round(inputTokens),
        outputTokens: Math.round(outputTokens),
        concurrency: Math.min(MAX_SEQUENCES, Math.max(1, Math.round(inFlight / count))),
      },
      profile,
      cards,
    ),
  );
  return [...new Set(reasons)];
}
