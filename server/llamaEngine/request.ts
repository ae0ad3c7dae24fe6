/** How tokens are chosen. */
export interface Sampling {
  /** 0: always the likeliest token. */
  readonly temperature: number;
  readonly topP: number;
  /** 0: no limit. */
  readonly topK: number;
  readonly minP: number;
  readonly seed: number;
}

/** What either API asks of the engine, checked and in tokens. */
export interface GenerationRequest {
  readonly prompt: readonly number[];
  readonly maxTokens: number;
  readonly minTokens: number;
  readonly ignoreEnd: boolean;
  readonly stop: readonly string[];
  readonly stopTokens: readonly number[];
  readonly sampling: Sampling;
  /** Alternatives given with each token's log probability; null: no log probabilities. */
  readonly top: number | null;
  /** Whether the prompt's tokens are scored too. */
  readonly scorePrompt: boolean;
}

/** A token's log probability (natural logarithm, before temperature and limits of sampling). */
export interface TokenScore {
  readonly token: number;
  readonly logprob: number;
}

/** A token of an answer or a prompt with its alternatives, the likeliest first. */
export interface ScoredToken extends TokenScore {
  readonly top: readonly TokenScore[];
}

export type FinishReason = "stop" | "length";

/** One step of an answer. */
export interface Piece {
  /** Text that is certain now; empty while a character or a stop text is incomplete. */
  readonly text: string;
  readonly token: number;
  /** The token's own text, special tokens included. */
  readonly tokenText: string;
  /** null: not asked for. */
  readonly score: ScoredToken | null;
}

/** How an answer ended. */
export interface Ending {
  readonly reason: FinishReason;
  /** The stop text or stop token that ended it. */
  readonly stop: string | number | null;
}

/** A request, parsed, and the form of its answer. */
export interface ParsedRequest {
  readonly api: "chat" | "completion";
  /** The model it names. */
  readonly model: string;
  readonly stream: boolean;
  readonly includeUsage: boolean;
  /** The prompt's text, which comes before the answer; null: it is not asked for. */
  readonly echo: string | null;
  readonly request: GenerationRequest;
}
