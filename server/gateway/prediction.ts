import type { ArtefactKind } from "@/server/contracts/artefacts";
import type { EncoderIdentity } from "@/solver/prediction/confidence";
import type { RequestFacts } from "@/solver/prediction/predictor";
import type { HeldEncoders } from "./encoderFolders";

/** The predictors that a policy names, by the hashes of their artefacts, and the models that it asks them about. */
export interface Wanted {
  readonly lengths: string | null;
  readonly confidence: string | null;
  readonly models: readonly string[];
}

/** What is asked about one request: its text is read in the worker and stays there. */
export interface Question {
  /** Of the last user message. */
  readonly text: string;
  readonly facts: Omit<RequestFacts, "sketch">;
  readonly wanted: readonly Wanted[];
}

/** What is predicted of a request at one model; what no predictor says is left out. */
export interface ModelPrediction {
  readonly requestTokens?: number;
  readonly remainingTokens?: number;
  readonly confidence?: number;
}

export type Predictions = Readonly<Record<string, ModelPrediction>>;

export interface Answer {
  /** What may be remembered of the text, packed; null without a predictor of lengths. */
  readonly sketch: string | null;
  /** By model, one for each that was wanted. */
  readonly predicted: readonly Predictions[];
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

/** What a thread is started with. */
export interface ThreadData {
  readonly artefacts: readonly ArtefactSource[];
  readonly encoders: HeldEncoders;
  /** Whether it is to answer, and not only to say what the artefacts are. */
  readonly serves: boolean;
}

/** What a thread has loaded, or why it could not. */
export type Loaded =
  | { readonly hash: string; readonly kind: ArtefactKind; readonly models: readonly string[]; readonly encoder?: EncoderIdentity }
  | { readonly hash: string; readonly problem: string; readonly absent: "not-loaded" | "no-encoder" };
