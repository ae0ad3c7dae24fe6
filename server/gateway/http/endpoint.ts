import { eventText } from "@/server/lib/eventStream";
import type { AnswerEvidence } from "@/solver/gates/gates";

/** An object of JSON. */
export type Json = Readonly<Record<string, unknown>>;

/** The problem with a body, in a sentence, and the field concerned. */
export interface BodyRefusal {
  readonly message: string;
  readonly param: string;
}

interface MadeBody {
  readonly body: Json;
  /** Bytes in addition to the client's; absent: none. */
  readonly addedBytes?: number;
}

/** The differences between OpenAI endpoints. Queueing, judging, retries and records are the same for all. */
export interface Endpoint {
  readonly path: string;
  /** Path at which engines answer it. */
  readonly enginePath: string;
  /** Makes the body that engines read of a client's in another API, or says why it cannot; absent: engines read the client's own. */
  readonly chatBody?: (body: Json, text: () => string) => MadeBody | BodyRefusal;
  /** OpenTelemetry's name for it (`gen_ai.operation.name`), or an own one where the conventions have none. */
  readonly operation: "chat" | "text_completion" | "embeddings" | "rerank" | "score";
  /** Required member of an answer: the list of results. A response without it is not an answer. */
  readonly answersIn: "choices" | "data" | "results";
  /** Why no engine could answer the body; null if the engine decides that. */
  refusal(body: Json): BodyRefusal | null;
  /** Null: answers are not text, so no cascade can judge them and none is streamed. */
  readonly text: GeneratedText | null;
}

/** The tokens of an answer with their log probabilities. */
export type AnswerTokens = NonNullable<AnswerEvidence["tokens"]>;

/** How the texts of an endpoint are read and written. */
export interface GeneratedText {
  /** Why a cascade, which judges one answer to one text, cannot answer the body though an engine could; null when it can. */
  cascadeRefusal(body: Json): BodyRefusal | null;
  /** The prompt as a judge reads it. */
  prompt(body: Json): string;
  /** The first answer as a judge reads it, including its tool calls; null if there is none. */
  answer(completion: unknown): string | null;
  /** Fields by which an engine is asked for log probabilities; null if the client's body asks for them itself. */
  tokenFields(body: Json): Json | null;
  /** The tokens of the first answer; null if the engine did not report the log probability of each. */
  tokens(completion: unknown): AnswerTokens | null;
  /** A whole completion as the events a streaming client expects. */
  events(completion: Json, options: { readonly includeUsage: boolean }): string;
}

/** Tokens from their texts and log probabilities; null unless there is one number for each. */
export function answerTokens(texts: readonly unknown[], logProbabilities: readonly unknown[]): AnswerTokens | null {
  if (texts.length === 0 || texts.length !== logProbabilities.length) return null;
  if (!texts.every((text) => typeof text === "string") || !logProbabilities.every((value) => typeof value === "number")) return null;
  return { texts, logProbabilities: Float64Array.from(logProbabilities) };
}

/** Why a cascade cannot give the requested `n` answers; null if it can. */
export function severalAnswers({ n }: Json): BodyRefusal | null {
  if (typeof n !== "number" || n <= 1) return null;
  return { message: `\`n\` is ${n}, but a cascade judges one answer: leave \`n\` out, or name an engine's model.`, param: "n" };
}

/** Events as the bytes of a stream: one `data:` line each, then `[DONE]`. */
export function eventStream(events: readonly unknown[]): string {
  return [...events.map((event) => JSON.stringify(event)), "[DONE]"].map(eventText).join("");
}
