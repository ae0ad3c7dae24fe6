import type { Prompt } from "@/server/contracts/studio/prompts";
import { ownLimit } from "@/server/planning/ensembles/ownLimits";
import { askModel } from "@/server/profiling/askModel";
import type { Upstream } from "@/server/profiling/upstream";
import { answerLimit } from "@/solver/ensemble/gate/answerLimit";

/** What came of one attempt. */
export type Attempt =
  | {
      readonly kind: "answered";
      readonly text: string;
      readonly inputTokens: number | null;
      readonly outputTokens: number;
      /** Engine seconds. */
      readonly seconds: number;
    }
  /** `failure` in a few words, without any of a prompt or an answer. */
  | {
      readonly kind: "failed";
      readonly failure: string;
      /** Another attempt would end the same way. */
      readonly isFinal: boolean;
      /** Nobody answers there, or nobody who can. */
      readonly isGone: boolean;
      /** How that was told, as "answered 401". */
      readonly reason?: string;
    }
  /** The engine asks to wait, without a word of how long where that is null: nothing is said of the question. */
  | { readonly kind: "busy"; readonly waitSeconds: number | null }
  /** `signal` fired. */
  | { readonly kind: "cut" };

export interface AskedOnce {
  readonly place: Upstream;
  readonly body: Prompt["body"];
  /** Of the wall. */
  readonly timeoutSeconds: number;
  readonly signal: AbortSignal;
}

/** Asks an engine one question, once, whole and not streamed. Never rejects. */
export async function askOnce({ place, body, timeoutSeconds, signal }: AskedOnce): Promise<Attempt> {
  const limit = new AbortController();
  const cut = (): void => limit.abort();
  // Cleared when it is over: thousands of them would wait for their time otherwise.
  const timer = setTimeout(cut, timeoutSeconds * 1000);
  signal.addEventListener("abort", cut, { once: true });
  try {
    if (signal.aborted) return { kind: "cut" };
    const asked = await askModel({ place, body, stream: false, signal: limit.signal });
    const failed = (failure: string, more: { isFinal?: boolean; isGone?: boolean; reason?: string } = {}): Attempt => ({
      ...{ kind: "failed", failure, isFinal: false, isGone: false },
      ...more,
    });
    switch (asked.kind) {
      case "answered":
      case "busy":
        return asked;
      case "aborted":
        return signal.aborted ? { kind: "cut" } : failed("timed out");
      case "refused":
      case "unstreamed":
        return failed(`refused${asked.kind === "refused" ? ` (${asked.reason})` : ""}`, { isFinal: true });
      case "down":
        return failed("engine gone", { isGone: true, reason: asked.reason });
      case "broken":
        return failed(asked.mayCost ? "unreadable answer" : asked.reason);
    }
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", cut);
  }
}

/**
 * A prompt's own body, its answer as long as the prompt and the ensemble both allow, said in the field that the prompt has for it.
 *
 * @param maxTokens of the ensemble; left out: as many as the engine allows.
 */
export function boundedBody(body: Prompt["body"], maxTokens: number | undefined): Prompt["body"] {
  const { max_tokens: _, max_completion_tokens: own, ...rest } = body;
  const limit = answerLimit(ownLimit(body), maxTokens);
  return limit === undefined ? body : { ...rest, [own == null ? "max_tokens" : "max_completion_tokens"]: limit };
}
