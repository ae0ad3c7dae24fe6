import type { ArtefactKind } from "@/server/contracts/gateway/artefacts";
import type { WorkflowDocument } from "@/solver/plan/workflowDocument";
import type { EncoderIdentity } from "@/solver/prediction/confidence";
import type { RequestFacts } from "@/solver/prediction/predictor";
import type { HeldEncoders } from "./encoderFolders";

/** The predictors that a policy names, by the hashes of their artefacts, and the models that it asks them about. */
export interface Wanted {
  readonly lengths: string | null;
  readonly confidence: string | null;
  /** One for each workflow of which it names one. */
  readonly configurations: readonly WantedConfigurations[];
  /** Whether answers are remembered to learn from: where the policy reads lengths or confidence. */
  readonly learns: boolean;
  readonly models: readonly string[];
}

/** The predictor of a workflow's accurate configurations. */
interface WantedConfigurations {
  readonly workflow: string;
  readonly hash: string;
  /** Agents that read no other agent's answer: their requests hold the program's topic and are the ones predicted. */
  readonly firstAgents: readonly string[];
}

/** What is asked for one policy about one request, each by the artefact's hash; null: not. */
export interface PredictorQuery extends Pick<Wanted, "lengths" | "confidence" | "models"> {
  readonly configurations: string | null;
}

/** What is asked about one request: its text is read in the worker and stays there. */
export interface Question {
  /** Of the last user message. */
  readonly text: string;
  readonly facts: Omit<RequestFacts, "sketch">;
  readonly wanted: readonly PredictorQuery[];
  /** Wall milliseconds that a search for accurate configurations may take, from when it is asked. */
  readonly searchMs: number;
}

/** What is predicted of a request at one model; what no predictor says is left out. */
export interface ModelPrediction {
  readonly requestTokens?: number;
  readonly remainingTokens?: number;
  readonly confidence?: number;
}

export type Predictions = Readonly<Record<string, ModelPrediction>>;

/** What a search for a program's accurate configurations came to. */
export interface FoundConfigurations {
  /** Those that are verified: a set of `configurationSet.ts`. */
  readonly accurate: Uint32Array;
  /** Heads that were evaluated, of so many configurations. */
  readonly evaluated: number;
  readonly of: number;
  /** Whether it came to its end, or was cut off. */
  readonly whole: boolean;
}

export interface Answer {
  /** What may be remembered of the text, packed; null without a predictor of lengths. */
  readonly sketch: string | null;
  /** By model, one for each that was wanted. */
  readonly predicted: readonly Predictions[];
  /** One for each that was wanted; null where no predictor of configurations was asked, or can be. */
  readonly configurations: readonly (FoundConfigurations | null)[];
}

/** What a thread is asked first. */
export interface LoadTask {
  readonly kind: "load";
  readonly artefacts: readonly ArtefactSource[];
  readonly encoders: HeldEncoders;
  /** Whether it is to answer, and not only to say what the artefacts are. */
  readonly serves: boolean;
}

/** One batch of questions to the thread. */
export interface Batch {
  readonly kind: "batch";
  readonly questions: readonly Question[];
  /** Wall milliseconds from when it comes in which searches have to end. */
  readonly searchMs: number;
}

/** What it answers; null answers where it failed at them. */
export interface Reply {
  readonly answers: readonly Answer[] | null;
  /** Wall milliseconds that a search takes of late; null where none was made yet. */
  readonly searchMs: number | null;
}

/** Why a request has no prediction. */
export type Absence =
  /** The thread is on its way. */
  | "loading"
  /** As many questions wait as may. */
  | "queue-full"
  /** It did not come in time. */
  | "late"
  /** The thread ended, or failed at it. */
  | "failed"
  /** A predictor that the policy names could not be loaded. */
  | "not-loaded"
  /** The encoder whose embeddings a predictor reads is not there, or cannot be run. */
  | "no-encoder"
  /** Another policy came into force while it was asked. */
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
      /** Whose accurate configurations it predicts. */
      readonly workflow?: WorkflowDocument;
    }
  | { readonly hash: string; readonly problem: string; readonly absent: "not-loaded" | "no-encoder" };
