import type { CallOutcome } from "@/server/calls/callScheduler";
import type { ProfileRequest, Prompt } from "@/server/contracts/studio";
import { answerAgreement } from "@/solver/gates/answerAgreement";
import { tokenConfidence } from "@/solver/gates/tokenConfidence";
import type { Extraction } from "@/solver/judging/extract";

/** Further samples of a model count as readings of its answer under this id, which no measure can have. */
export const SAMPLES_ID = ":samples";

type Samples = NonNullable<ProfileRequest["gates"]["samples"]>;

/**
 * What of two answers is compared: what the job's first exact measure takes of them, else all. Samples are compared when they arrive, since
 * their texts are not stored.
 */
export function comparedPart({ measures }: Pick<ProfileRequest, "measures">): Extraction {
  return measures.find((measure) => measure.kind === "exact")?.extract ?? "whole";
}

/** The request of a sample: it must not repeat the answer because it has the prompt's own seed. */
export function sampleBody(body: Prompt["body"], { temperature }: Samples, index: number): Prompt["body"] {
  const { logprobs: _, top_logprobs: _t, seed, ...rest } = body;
  return { ...rest, temperature, ...(typeof seed === "number" && { seed: seed + index + 1 }) };
}

/**
 * Whether a sample gives the same answer, 100 or 0, so that the mean over an answer's samples is its agreement. Where neither has a part to
 * compare it is 0: a gate has no score for such an answer and sends it on.
 */
export const sampleScore = (answer: string, sample: string, extract: Extraction): number =>
  100 * (answerAgreement(answer, [sample], extract) ?? 0);

/**
 * The smallest token probability of an answer x 100. 0 for an answer without any text: it has no token, and a gate sends it on.
 *
 * @returns null where the engine reported no log probabilities.
 */
export function rawConfidence({ text, tokens }: Extract<CallOutcome, { kind: "answered" }>): number | null {
  const least = tokenConfidence({ answer: text, tokens }, { measure: "minimum" });
  if (least !== null) return 100 * least;
  return text === "" ? 0 : null;
}
