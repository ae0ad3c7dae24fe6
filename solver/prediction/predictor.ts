import type { Sketch } from "@/solver/words/sketch";

/** The facts of a request before any model answers it (Chimera, section 3.4). */
export interface RequestFacts {
  /** Tokens of the instructions, of the user's prompt and of the whole input with the previous messages. */
  readonly instructionTokens: number;
  readonly promptTokens: number;
  readonly inputTokens: number;
  /** Names of the workflow and of the stage in it; empty where the client gives none. */
  readonly workflow: string;
  readonly stage: string;
  /** Sketch of the user's prompt; null where the text is not available. */
  readonly sketch: Sketch | null;
}

/** Predicted output tokens of one request, by model: medians. */
export interface PredictedLength {
  readonly requestTokens: number;
  /** The request and every stage after it in its program, each once; without parallel stages. */
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

/** The result of a search for accurate configurations for a prompt. */
export interface ConfigurationSearch {
  /** Configurations that their own head accepted, and that of the largest models, which needs none. Never shared: the caller's own. */
  readonly accurate: Uint32Array;
  /** Number of heads that were evaluated. */
  readonly evaluated: number;
  /** Whether it finished within its time. */
  readonly whole: boolean;
  /** How far each configuration is from being accepted, of `configurationSet.ts`; left out where it was not asked for. */
  readonly margins?: Int8Array;
}

/** The quality of a predictor on prompts it was not trained on, shown together with its artefact. */
export interface HeldOutError {
  readonly prompts: number;
  /** Lengths, by model: Kendall's tau distance to the true order, 0 perfect and 0.5 random; of requests, and of the rest of programs. */
  readonly lengths?: readonly {
    readonly model: string;
    readonly requestTau: number;
    readonly remainingTau: number;
    /** The same by input length alone. */
    readonly inputLengthTau: number;
  }[];
  /** Configurations of a workflow, over all heads and prompts. */
  readonly configurations?: {
    /** Share of the accepted that are as accurate as the largest, and among those that are, the share that was accepted. */
    readonly precision: number;
    readonly recall: number;
    /** Share of heads that the search evaluated. */
    readonly evaluatedShare: number;
    /** Quality loss of the accepted relative to the largest, 0..100: on average, and when always the cheapest is taken. */
    readonly meanLoss: number;
    readonly cheapestLoss: number;
  };
  /** Confidence, by model: area under the ROC curve, average precision, and the share that was right (the precision of a random one). */
  readonly confidence?: readonly {
    readonly model: string;
    readonly auc: number;
    readonly averagePrecision: number;
    readonly rightShare: number;
  }[];
  /** Confidence, by model: area under the ROC curve on the training prompts, each scored by heads that were trained without it. */
  readonly outOfFold?: readonly { readonly model: string; readonly auc: number }[];
}
