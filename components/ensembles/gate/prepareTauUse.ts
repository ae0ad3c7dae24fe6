import type { GateReport, ReplayRequest } from "@/server/contracts/studio";
import type { Ensemble } from "@/solver/ensemble/gate/ensembleDocument";
import { soundTau } from "@/solver/ensemble/gate/tauText";
import { confidenceName } from "../edit/prepareEnsemble";

type Gate = Pick<ReplayRequest, "experts" | "expertsPerQuestion" | "confidence">;

/** An ensemble with the displayed gate, or why it cannot have it. */
export type TauUse =
  | { readonly ok: true; readonly ensemble: Ensemble; readonly notes: readonly string[] }
  | { readonly ok: false; readonly says: string };

const sameNames = (a: readonly string[], b: readonly string[]): boolean => a.length === b.length && a.every((name) => b.includes(name));

/** Confidence with the sample's own figures, by which the gate was replayed. */
export function confidenceOf(kind: Gate["confidence"], experts: GateReport["experts"]): Ensemble["confidence"] {
  const figures = (of: (expert: GateReport["experts"][number]) => number) =>
    Object.fromEntries(experts.map((expert) => [expert.model, of(expert)]));
  switch (kind) {
    case "plurality":
      return { kind };
    case "accuracy-weighted":
      return { kind, accuracy: figures(({ accuracy }) => accuracy.value) };
    case "length-aware":
      // An expert without output has no length to compare.
      return { kind, meanTokens: figures(({ meanTokens }) => Math.max(1, meanTokens)) };
  }
}

/** The ensemble's next version, if tau was tested with its own settings. */
export function prepareTauUse(ensemble: Ensemble, gate: Gate, report: GateReport, tau: number): TauUse {
  if (!sameNames(ensemble.experts, gate.experts))
    return {
      ok: false,
      says: `${ensemble.name} has other experts (${ensemble.experts.join(", ")}): a tau tried on these does not apply to them.`,
    };
  if (ensemble.expertsPerQuestion !== gate.expertsPerQuestion)
    return {
      ok: false,
      says: `${ensemble.name} asks ${ensemble.expertsPerQuestion} experts a question and this gate ${gate.expertsPerQuestion}: shares of votes are not the same.`,
    };
  const notes: string[] = [];
  if (ensemble.confidence.kind !== gate.confidence)
    notes.push(
      `Its confidence becomes ${confidenceName(gate.confidence)}, with the sample's figures; it was ${confidenceName(ensemble.confidence.kind)}.`,
    );
  else if (gate.confidence !== "plurality") notes.push("What its votes weigh becomes the sample's figures.");
  if (ensemble.experts.length > ensemble.expertsPerQuestion && ensemble.skills === undefined)
    notes.push("The sample recruits experts by accuracy per category; the ensemble has no skills and asks the first of its list.");
  return { ok: true, ensemble: { ...ensemble, tau: soundTau(tau), confidence: confidenceOf(gate.confidence, report.experts) }, notes };
}

/** Whether a gateway can change tau alone, or needs the whole ensemble. */
export const changesTauAlone = (served: Ensemble, next: Ensemble): boolean =>
  JSON.stringify({ ...served, tau: next.tau }) === JSON.stringify(next);
