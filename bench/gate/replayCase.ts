import { aggregatorReadTokens } from "@/solver/ensemble/gate/aggregatorPrompt";
import type { AnswerSample } from "@/solver/ensemble/replay/answerSample";
import { type HeldOutChoice, heldOutChoice } from "@/solver/ensemble/replay/chooseTau";
import { type GatePoint, isSkipped, skippingWorth } from "@/solver/ensemble/replay/gatePoints";
import { type ReplayedGate, replayGate } from "@/solver/ensemble/replay/gateReplay";
import { type PlacedQuestion, replayedQuestions } from "@/solver/ensemble/replay/replayedQuestions";
import { quickestPool, secondsAtShare } from "@/solver/ensemble/sessions/aggregatorStage";
import { estimatedLoadSeconds } from "@/solver/ensemble/sessions/loadEstimate";
import { poolShapes } from "@/solver/ensemble/sessions/workerShape";
import { resolveModel } from "@/solver/hardware/aliases";
import { vllmProfile } from "@/solver/hardware/builtInProfiles";
import { gpuCards } from "@/solver/hardware/gpus";
import { modelCards } from "@/solver/hardware/models";
import { sampleOf } from "./answers";
import type { GateCase } from "./cases";

/** Maximum loss in points of accuracy of a chosen tau. */
export const ALLOWED_POINTS = 1;

const confidences = ["plurality", "accuracy-weighted", "length-aware"] as const;

/** The source's gate, at its two taus. */
const sourceTaus = [1, 2 / 3] as const;

/** A gate at one tau, and the aggregator's seconds there; null: its engine is not simulated. */
interface TimedPoint extends GatePoint {
  readonly seconds: number | null;
}

export interface ReplayedCase {
  readonly gateCase: GateCase;
  /** Share of the questions on which the aggregator's own published answer is right, read by nobody and reading nothing. */
  readonly aloneRight: number;
  /** Under plurality. */
  readonly report: ReplayedGate;
  readonly points: readonly TimedPoint[];
  /** Where every question is aggregated. */
  readonly allSeconds: number | null;
  /** By confidence function: chosen on all questions, and chosen on one half and evaluated on the other. */
  readonly choices: readonly { readonly confidence: string; readonly report: ReplayedGate; readonly heldOut: HeldOutChoice }[];
  /** The notes from reading the answers. */
  readonly notes: readonly string[];
}

/** Replays a case under every confidence function. */
export async function replayCase(gateCase: GateCase, textTokens: ReadonlyMap<string, number>): Promise<ReplayedCase> {
  const { experts, aggregator } = gateCase;
  const { sample, notes } = await sampleOf(gateCase);
  const choices = confidences.map((confidence) => {
    const request = { experts, expertsPerQuestion: experts.length, aggregator, confidence, allowedPoints: ALLOWED_POINTS };
    const report = replayGate(sample, request);
    if (typeof report === "string") throw new Error(report);
    const questions = replayedQuestions(sample, request);
    const heldOut = heldOutChoice(questions, ALLOWED_POINTS);
    if (heldOut === null) throw new Error("There is an aggregator and questions, and nothing was tried");
    return { confidence, report, questions, heldOut };
  });
  const [plurality] = choices;
  if (plurality === undefined) throw new Error("There are confidence functions");
  const { questions, report } = plurality;
  const secondsAt = aggregatorTime(sample, { aggregator, questions, textTokens });
  const points = sourceTaus.map((tau) => {
    const worth = skippingWorth(questions, (question) => isSkipped(question, tau));
    return { tau, ...worth, seconds: secondsAt?.(1 - worth.skipped.value) ?? null };
  });
  const column = sample.models.find(({ model }) => model === aggregator);
  const aloneRight = questions.reduce((sum, { at }) => sum + (column?.correct[at] ?? 0), 0) / questions.length;
  return { gateCase, aloneRight, report, points, allSeconds: secondsAt?.(1) ?? null, choices, notes };
}

/** As in the source: one host with four A100 80 GB. */
const GPU = "a100-sxm-80g";
const GPUS = 4;

/**
 * Seconds by the share of questions that the aggregator answers, the least confident ones first, without loading; null: it has no card, or
 * does not fit.
 */
function aggregatorTime(
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
    questionTokens: questions.map(({ at }) => textTokens.get(questionIds[at] ?? "") ?? 0),
    answerTokens: questions.map(({ expertTokens, asked }) => aggregatorReadTokens(expertTokens, asked.length)),
    outputTokens: questions.map(({ at }) => column.outputTokens[at] ?? 1),
    confidence: questions.map(({ confidence }) => confidence),
  };
  const quickest = quickestPool(sampled, pools, { questions: questions.length, concurrency: null });
  return quickest && ((share) => secondsAtShare(quickest.points, share));
}
