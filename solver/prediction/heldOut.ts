import { aucOf } from "@/solver/judging/concordance";
import { hasConfiguration } from "@/solver/workflow/configurationSet";
import { acceptedLoss } from "./acceptance";
import { type ConfidenceArtefact, type ConfidenceRows, confidenceOfEmbeddings, confidencePredictor } from "./confidence";
import type { ConfigurationRows } from "./configurationRows";
import { type ConfigurationArtefact, cheapestFirst, configurationPredictor } from "./configurations";
import { averagePrecision, kendallTauDistance } from "./errors";
import { type LengthArtefact, type LengthRows, lengthPredictor } from "./lengths";
import type { HeldOutError } from "./predictor";

/** Accuracy of length predictions for requests whose prompts the artefact was not trained on. Models that it does not know are left out. */
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

/** How well heads separate right from wrong answers on prompts they were not trained on. Models without both kinds are left out. */
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

/**
 * How well the serving search finds accurate configurations for prompts that the heads were not trained on. The configuration of the
 * largest models, which needs no head, counts in the loss only.
 *
 * @returns precision NaN where nothing was accepted, recall NaN where nothing is accurate.
 */
export function heldOutConfigurations(artefact: ConfigurationArtefact, rows: ConfigurationRows): HeldOutError {
  const { space, predict, predictOfEmbeddings } = configurationPredictor(artefact);
  const found = rows.embeddings === undefined ? predict(rows.facts) : predictOfEmbeddings(rows.embeddings.values);
  const heads = space.size - 1;
  let [accurate, accepted, both, evaluated, programs] = [0, 0, 0, 0, 0];
  for (const [prompt, search] of found.entries()) {
    const counts = rows.programs[prompt] ?? 0;
    programs += counts;
    evaluated += counts * search.evaluated;
    for (let head = 0; head < heads; head++) {
      const right = counts * (rows.accurate[prompt * space.size + head] ?? 0);
      const isAccepted = hasConfiguration(search.accurate, head);
      accurate += right;
      accepted += isAccepted ? counts : 0;
      both += isAccepted ? right : 0;
    }
  }
  const { mean, cheapest } = acceptedLoss({ ...rows, size: space.size, cheapestFirst: cheapestFirst(space) }, (prompt, configuration) =>
    hasConfiguration(found[prompt]?.accurate ?? new Uint32Array(), configuration),
  );
  return {
    prompts: rows.facts.length,
    configurations: {
      precision: both / accepted,
      recall: both / accurate,
      evaluatedShare: evaluated / (programs * heads),
      meanLoss: mean,
      cheapestLoss: cheapest,
    },
  };
}
