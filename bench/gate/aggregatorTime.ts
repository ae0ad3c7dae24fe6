import type { AnswerSample } from "@/solver/ensemble/replay/answerSample";
import type { PlacedQuestion } from "@/solver/ensemble/replay/replayedQuestions";
import { quickestPool, secondsAtShare } from "@/solver/ensemble/sessions/aggregatorStage";
import { estimatedLoadSeconds } from "@/solver/ensemble/sessions/loadEstimate";
import { poolShapes } from "@/solver/ensemble/sessions/workerShape";
import { resolveModel } from "@/solver/hardware/aliases";
import { vllmProfile } from "@/solver/hardware/builtInProfiles";
import { gpuCards } from "@/solver/hardware/gpus";
import { modelCards } from "@/solver/hardware/models";

/** As the source has: one host with four A100 80 GB. */
const GPU = "a100-sxm-80g";
const GPUS = 4;

/** Of the aggregator's instruction beside question and answers. */
const INSTRUCTION_TOKENS = 100;

/** Seconds by the share of questions that the aggregator answers, the least confident ones first, without loading; null: it has no card, or does not fit. */
export function aggregatorTime(
  { models, questionIds }: AnswerSample,
  {
    aggregator,
    questions,
    textTokens,
  }: { readonly aggregator: string; readonly questions: readonly PlacedQuestion[]; readonly textTokens: ReadonlyMap<string, number> },
): ((share: number) => number) | null {
  const card = modelCards[resolveModel(aggregator, {}) ?? ""];
  const gpu = gpuCards[GPU];
  const column = models.find(({ model }) => model === aggregator);
  if (card === undefined || gpu === undefined || column === undefined) return null;
  const pools = poolShapes(card, gpu, { nodes: [GPUS], profile: vllmProfile }).map((pool) => ({
    ...pool,
    loadSeconds: estimatedLoadSeconds(card, pool.shape.tp, "local-nvme").seconds,
  }));
  const sampled = {
    questionTokens: questions.map(({ at }) => INSTRUCTION_TOKENS + (textTokens.get(questionIds[at] ?? "") ?? 0)),
    answerTokens: questions.map(({ expertTokens }) => expertTokens),
    outputTokens: questions.map(({ at }) => column.outputTokens[at] ?? 1),
    confidence: questions.map(({ confidence }) => confidence),
  };
  const quickest = quickestPool(sampled, pools, { questions: questions.length, concurrency: null });
  return quickest && ((share) => secondsAtShare(quickest.points, share));
}
