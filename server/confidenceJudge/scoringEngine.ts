import { readBoundedText } from "@/server/lib/boundedBody";
import { reasonOf } from "@/server/lib/reasonOf";
import { timeLimit } from "@/server/lib/timeLimit";
import { type ScoredPrompt, scoringBody, smallestProbability } from "./scoredAnswer";

/** A probability, 0..1, or why there is none. */
export type Scoring =
  | { readonly kind: "scored"; readonly probability: number }
  /** The engine cannot be reached, or does not serve now. */
  | { readonly kind: "unreached"; readonly reason: string }
  | { readonly kind: "timed-out" }
  /** The engine refuses the prompt, such as one that is too long. */
  | { readonly kind: "refused"; readonly reason: string }
  /** The engine does not score prompts. */
  | { readonly kind: "unscored" }
  | { readonly kind: "aborted" };

/** The engine whose probabilities are the scores. */
export interface ScoringEngine {
  readonly url: string;
  readonly model: string;
  readonly limitMs: number;
}

/** A reply holds one line of numbers and texts for each token of a prompt; the longest prompt has some thousands. */
const LIMITS = { maxBytes: 8_000_000, json: { depth: 64, nodes: 1_000_000, commas: 1_000_000 } };
const MOST_REASON_CHARACTERS = 300;

/** Asks the engine for the smallest probability of a token of the answer. Never throws. */
export async function askScore({ url, model, limitMs }: ScoringEngine, prompt: ScoredPrompt, signal: AbortSignal): Promise<Scoring> {
  const limited = timeLimit(signal, limitMs);
  try {
    const response = await fetch(`${url}/v1/completions`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(scoringBody(model, prompt)),
      redirect: "error",
      signal: limited,
    });
    const text = await readBoundedText(response.body, LIMITS);
    if (text === null) return { kind: "unscored" };
    if (response.status === 429 || response.status >= 500)
      return { kind: "unreached", reason: `it answers with status ${response.status}` };
    if (!response.ok) return { kind: "refused", reason: refusalText(text) ?? `status ${response.status}` };
    const probability = smallestProbability(parsed(text), prompt);
    return probability === null ? { kind: "unscored" } : { kind: "scored", probability };
  } catch (error) {
    if (signal.aborted) return { kind: "aborted" };
    if (limited.aborted) return { kind: "timed-out" };
    const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
    return { kind: "unreached", reason: reasonOf(cause) };
  }
}

function refusalText(text: string): string | null {
  const body = parsed(text) as { readonly error?: { readonly message?: unknown } } | null | undefined;
  const message = body?.error?.message;
  return typeof message === "string" ? message.slice(0, MOST_REASON_CHARACTERS).replace(/\.$/, "") : null;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
