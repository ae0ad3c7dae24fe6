import type { ArtefactKind } from "@/server/contracts/gateway/artefacts";
import type { WorkflowDocument } from "@/solver/plan/workflowDocument";
import type { EncoderIdentity } from "@/solver/prediction/confidence";
import type { RequestFacts } from "@/solver/prediction/predictor";
import type { HeldEncoders } from "./encoderFolders";

/** The predictors that a policy names, by the hashes of their artefacts, and the models for which it needs predictions. */
export interface Wanted {
  readonly lengths: string | null;
  readonly confidence: string | null;
  /** One for each workflow with a named predictor. */
  readonly configurations: readonly WantedConfigurations[];
  /** Whether the policy reads how far each configuration is from being accurate: where scores of answers change that. */
  readonly withMargins: boolean;
  /** Whether answers are logged for training: if the policy reads lengths or confidence. */
  readonly learns: boolean;
  readonly models: readonly string[];
}

/** The predictor of a workflow's accurate configurations. */
interface WantedConfigurations {
  readonly workflow: string;
  readonly hash: string;
  /** Agents that read no other agent's answer: their requests hold the program's topic, and only they are predicted. */
  readonly firstAgents: readonly string[];
}

/** One policy's query about one request, each part by the artefact's hash; null: not queried. */
export interface PredictorQuery extends Pick<Wanted, "lengths" | "confidence" | "models" | "withMargins"> {
  readonly configurations: string | null;
}

/** The question about one request: its text is read in the worker and stays there. */
export interface Question {
  /** Text of the last user message. */
  readonly text: string;
  readonly facts: Omit<RequestFacts, "sketch">;
  readonly wanted: readonly PredictorQuery[];
  /** Wall milliseconds for a search for accurate configurations, from the moment of the question. */
  readonly searchMs: number;
}

/** The prediction for a request at one model; values without a predictor are absent. */
export interface ModelPrediction {
  readonly requestTokens?: number;
  readonly remainingTokens?: number;
  readonly confidence?: number;
}

export type Predictions = Readonly<Record<string, ModelPrediction>>;

/** The result of a search for a program's accurate configurations. */
export interface FoundConfigurations {
  /** The verified configurations: a set of `configurationSet.ts`. */
  readonly accurate: Uint32Array;
  /** Heads that were evaluated, and the number of configurations. */
  readonly evaluated: number;
  readonly of: number;
  /** Whether the search finished or was cut off. */
  readonly whole: boolean;
  /** As `ConfigurationSearch.margins`; left out if the policy reads none. */
  readonly margins?: Int8Array;
}

export interface Answer {
  /** The part of the text that may be logged, packed; null without a predictor of lengths. */
  readonly sketch: string | null;
  /** By model, one for each query. */
  readonly predicted: readonly Predictions[];
  /** One for each query; null if no predictor of configurations was asked, or none can answer. */
  readonly configurations: readonly (FoundConfigurations | null)[];
}

/** The first message to a thread. */
export interface LoadTask {
  readonly kind: "load";
  readonly artefacts: readonly ArtefactSource[];
  readonly encoders: HeldEncoders;
  /** Whether it answers questions, or only reports what the artefacts are. */
  readonly serves: boolean;
}

/** One batch of questions to the thread. */
export interface Batch {
  readonly kind: "batch";
  readonly questions: readonly Question[];
  /** Wall milliseconds from the batch's arrival in which searches must end. */
  readonly searchMs: number;
}

/** The thread's reply; answers are null if it failed. */
export interface Reply {
  readonly answers: readonly Answer[] | null;
  /** Recent wall milliseconds of a search; null if none was made yet. */
  readonly searchMs: number | null;
}

/** Why a request has no prediction. */
export type Absence =
  /** The thread is starting. */
  | "loading"
  /** The limit of waiting questions is reached. */
  | "queue-full"
  /** The answer did not arrive in time. */
  | "late"
  /** The thread ended, or failed to answer. */
  | "failed"
  /** A predictor that the policy names could not be loaded. */
  | "not-loaded"
  /** The encoder whose embeddings a predictor reads is missing, or cannot be run. */
  | "no-encoder"
  /** Another policy came into force during the question. */
  | "not-asked";

/** An artefact: its bytes, or the path of a file with them. */
export interface ArtefactSource {
  readonly hash: string;
  readonly at: string | Uint8Array;
}

/** What a thread has loaded, or why it could not. */
export type Loaded =
  | {
      readonly hash: string;
      readonly kind: ArtefactKind;
      readonly models: readonly string[];
      readonly encoder?: EncoderIdentity;
      /** The workflow whose accurate configurations it predicts. */
      readonly workflow?: WorkflowDocument;
    }
  | { readonly hash: string; readonly problem: string; readonly absent: "not-loaded" | "no-encoder" };
