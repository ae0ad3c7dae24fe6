import { mixSeed, seededRandom } from "@/solver/numeric/random";
import { shuffled } from "@/solver/numeric/shuffled";
import { type ConfidenceRows, scoreRows, trainConfidence } from "./confidence";

/** How rows are divided: into so many parts, at random by the seed. */
export interface CrossFit {
  readonly folds: number;
  readonly seed: number;
}

/** The score of a model of which no other fold knows an outcome. */
const UNKNOWN = 0.5;

/**
 * Out-of-fold confidence: each row is scored by heads that are trained on the other folds only, so that its own label does not influence
 * its score (cross-fitting; the source of the heads is `trainConfidence`). The same rows, folds and seed give the same scores.
 *
 * @param rows with or without embeddings.
 * @param fit at least 2 folds; with fewer rows than folds, each row is its own fold.
 * @returns by row, then by model: 0..1, and 0.5 for a model of which the other folds know no outcome.
 * @throws RangeError below 2 rows or 2 folds.
 */
export function crossFittedConfidence(rows: ConfidenceRows, fit: CrossFit): Float32Array {
  const { models, facts } = rows;
  const scores = new Float32Array(facts.length * models.length).fill(UNKNOWN);
  for (const [fold, left] of foldsOf(facts.length, fit).entries()) {
    const isLeft = new Set(left);
    const learnt = pickRows(
      rows,
      Int32Array.from(facts.keys()).filter((row) => !isLeft.has(row)),
    );
    const known = withOutcomes(learnt);
    if (known.models.length === 0) continue;
    const found = scoreRows(trainConfidence(known, { seed: mixSeed(fit.seed, `fold ${fold}`) }), pickRows(rows, left));
    for (const [at, row] of left.entries())
      for (const [head, model] of known.models.entries())
        scores[row * models.length + models.indexOf(model)] = found[at * known.models.length + head] ?? UNKNOWN;
  }
  return scores;
}

/**
 * The rows of each fold, ascending: each row is in one fold, and the sizes of folds differ by at most one.
 *
 * @throws RangeError below 2 rows or 2 folds.
 */
export function foldsOf(rows: number, { folds, seed }: CrossFit): readonly Int32Array[] {
  const parts = Math.min(folds, rows);
  if (!(parts >= 2)) throw new RangeError(`Cross-fitting needs at least 2 rows and 2 folds, found ${rows} and ${folds}`);
  const order = shuffled(rows, seededRandom(mixSeed(seed, "folds")));
  return Array.from({ length: parts }, (_, fold) => order.filter((__, at) => at % parts === fold).sort());
}

function pickRows({ models, facts, right, embeddings }: ConfidenceRows, rows: Int32Array): ConfidenceRows {
  const picked = {
    models,
    facts: Array.from(rows).flatMap((row) => facts[row] ?? []),
    right: right.map((labels) => Float32Array.from(rows, (row) => labels[row] ?? Number.NaN)),
  };
  if (embeddings === undefined) return picked;
  const { dimensions, values } = embeddings;
  const taken = new Float32Array(rows.length * dimensions);
  for (const [at, row] of rows.entries()) taken.set(values.subarray(row * dimensions, (row + 1) * dimensions), at * dimensions);
  return { ...picked, embeddings: { ...embeddings, values: taken } };
}

/** The rows for the models of which they know an outcome. */
function withOutcomes(rows: ConfidenceRows): ConfidenceRows {
  const kept = [...rows.models.keys()].filter((model) => rows.right[model]?.some((label) => !Number.isNaN(label)) === true);
  return {
    ...rows,
    models: kept.flatMap((model) => rows.models[model] ?? []),
    right: kept.map((model) => rows.right[model] ?? new Float32Array()),
  };
}
