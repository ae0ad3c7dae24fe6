import type { CallOutcome } from "@/server/calls/callScheduler";
import type { ProfileRequest, Prompt } from "@/server/contracts/studio";
import type { ConfidenceReading } from "@/solver/gates/gateDocument";
import { type AnswerEvidence, createGate } from "@/solver/gates/gates";
import type { Extraction } from "@/solver/judging/extract";

/** Further samples of a model count as readings of its answer under this id, which no measure can have. */
export const SAMPLES_ID = ":samples";

type Samples = NonNullable<ProfileRequest["gates"]["samples"]>;

/** What these gates do not read. */
const unknown: Omit<AnswerEvidence, "answer"> = {
  prompt: "",
  inputTokens: 0,
  outputTokens: 0,
  endedByLength: false,
  tokens: null,
  others: null,
  judgedScore: null,
};

/**
 * What of two answers is compared: what the job's first exact measure takes of them, else all. Samples are compared when they arrive, since
 * their texts are not stored.
 */
export function comparedPart({ measures }: Pick<ProfileRequest, "measures">): Extraction {
  return measures.find((measure) => measure.kind === "exact")?.extract ?? "whole";
}

/** What of an answer's log probabilities the column confidence holds. */
export function confidenceReading({
  measures,
  gates: { measure = "minimum" },
}: Pick<ProfileRequest, "measures" | "gates">): ConfidenceReading {
  return { measure, ...(measure === "answer-span" ? { answer: comparedPart({ measures }) } : {}) };
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
export function sampleScore(answer: string, sample: string, extract: Extraction): number {
  const gate = createGate({ kind: "agreement", answer: extract });
  const reading = gate.score({ ...unknown, answer, others: [sample] });
  return reading.kind === "scored" ? reading.score : 0;
}

/**
 * The confidence of an answer by its token probabilities, 0..100. 0 for an answer without any text: it has no token, and a gate sends it on.
 *
 * @returns null where the engine reported no log probabilities.
 */
export function rawConfidence({ text, tokens }: Extract<CallOutcome, { kind: "answered" }>, of: ConfidenceReading): number | null {
  const reading = createGate({ kind: "confidence", ...of }).score({ ...unknown, answer: text, tokens });
  if (reading.kind === "scored") return reading.score;
  return text === "" ? 0 : null;
}
