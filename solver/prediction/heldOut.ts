import { aucWithin } from "@/solver/judging/concordance";
import { hasConfiguration } from "@/solver/workflow/configurationSet";
import { acceptedLoss } from "./acceptance";
import { type ConfidenceArtefact, type ConfidenceRows, scoreRows } from "./confidence";
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
  return { prompts: rows.facts.length, confidence: separation(artefact.models, scoreRows(artefact, rows), rows) };
}

/**
 * How well scores separate right from wrong answers.
 *
 * @param models of the scores, in their order.
 * @param scores by row, then by model.
 * @param folds of out-of-fold scores: the AUC counts pairs of one fold only. Heads of a fold learn from the other folds, where a model is
 * the worse the better it is by chance in this one, so that over all pairs even good scores can have an AUC below 0.5.
 * @returns one for each model; models without both kinds are left out.
 */
export function separation(
  models: readonly string[],
  scores: Float32Array,
  rows: Pick<ConfidenceRows, "models" | "right">,
  folds?: readonly Int32Array[],
): NonNullable<HeldOutError["confidence"]> {
  return models.flatMap((model, head) => {
    const right = rows.right[rows.models.indexOf(model)] ?? new Float32Array();
    const answersOf = (of: Int32Array) =>
      Array.from(of).flatMap((at) => {
        const known = right[at] ?? Number.NaN;
        return Number.isNaN(known) ? [] : [{ score: scores[at * models.length + head] ?? 0, label: known > 0.5 ? 1 : 0 }];
      });
    const groups = (folds ?? [Int32Array.from(right.keys())]).map(answersOf);
    const auc = aucWithin(groups);
    if (auc === null) return [];
    const answers = groups.flat();
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
