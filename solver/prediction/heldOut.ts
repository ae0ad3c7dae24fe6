import { aucOf } from "@/solver/judging/concordance";
import { type ConfidenceArtefact, type ConfidenceRows, confidenceOfEmbeddings, confidencePredictor } from "./confidence";
import { averagePrecision, kendallTauDistance } from "./errors";
import { type LengthArtefact, type LengthRows, lengthPredictor } from "./lengths";
import type { HeldOutError } from "./predictor";

/** How well lengths are predicted of requests whose prompts the artefact was not trained on. Models that it does not know are left out. */
export function heldOutLengths(artefact: LengthArtefact, rows: LengthRows): HeldOutError {
  const predictor = lengthPredictor(artefact);
  const lengths = rows.models.flatMap(({ model, facts, requestTokens, remainingTokens }) => {
    const predicted = predictor.predict(facts, model);
    if (predicted === null) return [];
    const tau = (of: readonly number[], truth: Float32Array): number => kendallTauDistance(of, truth);
    return [
      {
        model,
        requestTau: tau(
          predicted.map((each) => each.requestTokens),
          requestTokens,
        ),
        remainingTau: tau(
          predicted.map((each) => each.remainingTokens),
          remainingTokens,
        ),
        inputLengthTau: tau(
          facts.map((each) => each.inputTokens),
          remainingTokens,
        ),
      },
    ];
  });
  return { prompts: rows.prompts, lengths };
}

/** How well heads tell right answers from wrong ones on prompts they were not trained on. Models without both kinds are left out. */
export function heldOutConfidence(artefact: ConfidenceArtefact, rows: ConfidenceRows): HeldOutError {
  const scores =
    rows.embeddings === undefined
      ? confidencePredictor(artefact).predict(rows.facts)
      : confidenceOfEmbeddings(artefact, rows.embeddings.values);
  const confidence = artefact.models.flatMap((model, head) => {
    const right = rows.right[rows.models.indexOf(model)] ?? new Float32Array();
    const answers = Array.from(right, (known, at) => ({
      score: scores[at * artefact.models.length + head] ?? 0,
      label: known > 0.5 ? 1 : 0,
      known,
    })).filter(({ known }) => !Number.isNaN(known));
    const auc = aucOf(answers);
    if (auc === null) return [];
    const labels = answers.map(({ label }) => label);
    return [
      {
        model,
        auc: auc.value,
        averagePrecision: averagePrecision(
          answers.map(({ score }) => score),
          labels,
        ),
        rightShare: labels.reduce((sum, label) => sum + label, 0) / labels.length,
      },
    ];
  });
  return { prompts: rows.facts.length, confidence };
}
