import type { CallOutcome } from "@/server/calls/callScheduler";
import type { Prompt } from "@/server/contracts/studio/prompts";
import { ownLimit } from "@/server/planning/ensembles/ownLimits";
import { answerLimit } from "@/solver/ensemble/gate/answerLimit";

/** The outcome of one attempt at a question. */
export type Attempt =
  | {
      readonly kind: "answered";
      readonly text: string;
      readonly inputTokens: number | null;
      readonly outputTokens: number;
      /** Engine seconds. */
      readonly seconds: number;
    }
  /** `failure` in a few words, without content of a prompt or an answer. */
  | {
      readonly kind: "failed";
      readonly failure: string;
      /** Another attempt would end the same way. */
      readonly isFinal: boolean;
      /** No engine answers there, or none that can serve the model. */
      readonly isGone: boolean;
      /** How that was reported, for example "answered 401". */
      readonly reason?: string;
    }
  /** The engine asks to wait, for an unstated time if null; this says nothing about the question. */
  | { readonly kind: "busy"; readonly waitSeconds: number | null }
  /** `signal` fired. */
  | { readonly kind: "cut" };

/** The meaning of a call's outcome for its question and its engine. */
export function attemptOf(outcome: CallOutcome): Attempt {
  const failed = (failure: string, more: { isFinal?: boolean; isGone?: boolean; reason?: string } = {}): Attempt => ({
    ...{ kind: "failed", failure, isFinal: false, isGone: false },
    ...more,
  });
  switch (outcome.kind) {
    case "answered":
    case "busy":
      return outcome;
    case "aborted":
      return { kind: "cut" };
    case "timeout":
      return failed(outcome.reason);
    case "refused":
    case "unstreamed":
    case "unreported":
      return failed(`refused${outcome.kind === "refused" ? ` (${outcome.reason})` : ""}`, { isFinal: true });
    case "down":
      return failed("engine gone", { isGone: true, reason: outcome.reason });
    case "broken":
      return failed(outcome.mayCost ? "unreadable answer" : outcome.reason);
  }
}

/**
 * A prompt's own body with an output limit that both the prompt and the ensemble allow, in the field that the prompt uses for it.
 *
 * @param maxTokens of the ensemble; absent: the engine's limit.
 */
export function boundedBody(body: Prompt["body"], maxTokens: number | undefined): Prompt["body"] {
  const { max_tokens: _, max_completion_tokens: own, ...rest } = body;
  const limit = answerLimit(ownLimit(body), maxTokens);
  return limit === undefined ? body : { ...rest, [own == null ? "max_tokens" : "max_completion_tokens"]: limit };
}
