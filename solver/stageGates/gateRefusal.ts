import type { ConfidenceMeasure, ScorerFeature } from "@/solver/gates/gateDocument";
import { measureWords } from "@/solver/gates/gates";
import type { GateColumn } from "@/solver/workload/gateColumns";

/** Why a gate's scores are not known on a workload's prompts. */
export type GateRefusal =
  | { readonly kind: "no-column"; readonly model: string; readonly column: GateColumn }
  /** The workload has no answers of a stage's model, or of one that a gate compares with. */
  | { readonly kind: "no-answers"; readonly model: string }
  /** The column of confidence holds another number of an answer's tokens than the gate reads. */
  | { readonly kind: "other-measure"; readonly model: string; readonly held: ConfidenceMeasure; readonly measure: ConfidenceMeasure }
  /** The column of agreement was measured with other answers, or it is not known with which. */
  | { readonly kind: "other-answers"; readonly model: string }
  /** A scorer reads what a table does not hold. */
  | { readonly kind: "other-inputs"; readonly model: string; readonly feature: ScorerFeature }
  /** A scorer reads words, and the workload has no scores by it. */
  | { readonly kind: "other-words"; readonly model: string }
  /** A sequence with a gate that asks for further answers. */
  | { readonly kind: "sequenced-answers"; readonly model: string }
  /** A gate that compares with a model of its own cascade. */
  | { readonly kind: "peer-is-stage"; readonly model: string };

export const isRefused = (given: object): given is GateRefusal => "kind" in given;

/** A refusal in one sentence. */
export function gateRefusalText(refusal: GateRefusal): string {
  const { model } = refusal;
  switch (refusal.kind) {
    case "no-column":
      return `The workload has no ${refusal.column} of the answers of ${model}, which its gate reads: profile it, or import the column.`;
    case "no-answers":
      return `The workload has no answers of ${model}, which a gate needs.`;
    case "other-measure":
      return refusal.held === refusal.measure
        ? `The workload's confidence and the gate of ${model} do not read the same tokens for the ${measureWords[refusal.held]}.`
        : `The workload's confidence is the ${measureWords[refusal.held]}, and the gate of ${model} reads another measure: ${measureWords[refusal.measure]}.`;
    case "other-answers":
      return `The workload's agreement was not measured with the answers that the gate of ${model} compares.`;
    case "other-inputs":
      return `The scorer of ${model} reads ${refusal.feature}, which a workload does not hold.`;
    case "other-words":
      return `The scorer of ${model} reads the words of prompts and answers, and the workload has no scores by it: make the workload from the profile again.`;
    case "sequenced-answers":
      return `The sequence of ${model} asks for further answers, and such a sequence is not simulated.`;
    case "peer-is-stage":
      return `A gate compares answers with those of ${model}, which is a stage itself, and such a cascade is not simulated.`;
  }
}
