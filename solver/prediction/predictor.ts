/**
 * Words and word pairs of a text, hashed into buckets and counted: what predictors read of a prompt. Who has a dictionary can rebuild much of
 * the text by trying words and pairs, so it is kept nowhere; `commonPart` may be. Buckets ascend.
 */
export interface Sketch {
  readonly buckets: Uint16Array;
  readonly counts: Uint16Array;
}

/** What is known of a request before any model answers it (Chimera, section 3.4). */
export interface RequestFacts {
  /** Tokens of the instructions, of the user's prompt and of the whole input with what came before. */
  readonly instructionTokens: number;
  readonly promptTokens: number;
  readonly inputTokens: number;
  /** Names of the workflow and of the stage in it; empty where the client says nothing. */
  readonly workflow: string;
  readonly stage: string;
  /** Of the user's prompt; null where no text is at hand. */
  readonly sketch: Sketch | null;
}

/** Tokens that one request is predicted to write, by model: medians. */
export interface PredictedLength {
  readonly requestTokens: number;
  /** The request and every stage that comes after it in its program, each once; not those beside it. */
  readonly remainingTokens: number;
}

/** Predicts lengths; built from an artefact. */
export interface LengthPredictor {
  /** Models it was trained for. */
  readonly models: readonly string[];
  /** One for each of the facts; null for a model it was not trained for. */
  predict(facts: readonly RequestFacts[], model: string): readonly PredictedLength[] | null;
}

/** Predicts which models solve a prompt; built from an artefact. */
export interface ConfidencePredictor {
  readonly models: readonly string[];
  /** By facts, then by model, in the order of `models`: 0..1. */
  predict(facts: readonly RequestFacts[]): Float32Array;
}

/** What a search for accurate configurations found for a prompt. */
export interface ConfigurationSearch {
  /** Configurations that their own head accepted, and that of the largest models, which needs none. Never shared: the caller's own. */
  readonly accurate: Uint32Array;
  /** Heads that were evaluated. */
  readonly evaluated: number;
  /** Whether it came to its end before its time. */
  readonly whole: boolean;
}

/** How well a predictor did on prompts it was not trained on, as it is shown beside its artefact. */
export interface HeldOutError {
  readonly prompts: number;
  /** Lengths, by model: Kendall's tau distance to the true order, 0 perfect and 0.5 a coin; of requests, and of what programs have yet to write. */
  readonly lengths?: readonly {
    readonly model: string;
    readonly requestTau: number;
    readonly remainingTau: number;
    /** The same by input length alone. */
    readonly inputLengthTau: number;
  }[];
  /** Configurations of a workflow, over all heads and prompts. */
  readonly configurations?: {
    /** Share of the accepted that are as accurate as the largest, and of those that are, the share that was accepted. */
    readonly precision: number;
    readonly recall: number;
    /** Share of heads that the search evaluated. */
    readonly evaluatedShare: number;
    /** What the accepted lose in quality against the largest, 0..100: in the mean, and where always the cheapest is taken. */
    readonly meanLoss: number;
    readonly cheapestLoss: number;
  };
  /** Confidence, by model: area under the ROC curve, average precision, and the share that was right (what precision a coin has). */
  readonly confidence?: readonly {
    readonly model: string;
    readonly auc: number;
    readonly averagePrecision: number;
    readonly rightShare: number;
  }[];
}
