import { type HeldOutChoice, heldOutChoice } from "@/solver/ensemble/replay/chooseTau";
import { type GatePoint, isSkipped, skippingWorth } from "@/solver/ensemble/replay/gatePoints";
import { type ReplayedGate, replayGate } from "@/solver/ensemble/replay/gateReplay";
import { replayedQuestions } from "@/solver/ensemble/replay/replayedQuestions";
import { aggregatorTime } from "./aggregatorTime";
import { sampleOf } from "./answers";
import type { GateCase } from "./cases";

/** Points of accuracy that a chosen tau may cost. */
export const ALLOWED_POINTS = 1;

const confidences = ["plurality", "accuracy-weighted", "length-aware"] as const;

/** The gate as the source has it, at its two taus. */
const sourceTaus = [1, 2 / 3] as const;

/** A gate at one tau, and the aggregator's seconds there; null: its engine is not simulated. */
interface TimedPoint extends GatePoint {
  readonly seconds: number | null;
}

export interface ReplayedCase {
  readonly gateCase: GateCase;
  /** Under plurality. */
  readonly report: ReplayedGate;
  readonly points: readonly TimedPoint[];
  /** Where every question is aggregated. */
  readonly allSeconds: number | null;
  /** By confidence function: as chosen on all questions, and as chosen on one half and tried on the other. */
  readonly choices: readonly { readonly confidence: string; readonly report: ReplayedGate; readonly heldOut: HeldOutChoice }[];
  /** What was said of the answers when they were read. */
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
  return { gateCase, report, points, allSeconds: secondsAt?.(1) ?? null, choices, notes };
}
