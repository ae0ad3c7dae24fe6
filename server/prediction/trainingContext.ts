import type { Artefact, ArtefactTraining } from "@/server/contracts/gateway/artefacts";
import type { ConfidenceScores } from "@/server/store/documents/confidenceScores";
import type { PromptTexts } from "@/solver/prediction/programFacts";
import { sketchOf } from "@/solver/words/sketch";
import type { PromptSplit } from "@/solver/workload/split";
import type { Workload } from "@/solver/workload/workload";

/** The training data of predictors: a workload, the texts of its prompts if available, and which of them are held out. */
export interface TrainingContext {
  readonly workload: Workload;
  readonly texts: readonly (string | null)[] | null;
  readonly split: PromptSplit;
  readonly tell: (doing: string) => void;
}

/** The common part of every training record on a workload. */
export type TrainingSummary = Omit<ArtefactTraining, "workflows" | "correlation" | "requests" | "encoder" | "source">;

/** A trained predictor, ready to be stored under the hash of its bytes. */
export interface Trained extends Pick<Artefact, "kind" | "training" | "heldOut"> {
  readonly bytes: Uint8Array;
  /** Of confidence: the scores of the workload's prompts. */
  readonly scores?: ConfidenceScores;
}

/** What predictors read of prompts. */
export function sketchesOf(promptTokens: Int32Array, texts: readonly (string | null)[] | null): PromptTexts {
  return {
    promptTokens,
    sketches: Array.from(promptTokens, (_, row) => {
      const text = texts?.[row] ?? null;
      return text === null ? null : sketchOf(text);
    }),
  };
}
