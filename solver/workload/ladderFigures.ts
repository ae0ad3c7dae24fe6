import { z } from "zod";
import table from "./tables/ladderFigures.json" with { type: "json" };

const fraction = z.number().min(0).max(1);

/** Accuracy and answer lengths of one model on one task. */
const modelFiguresSchema = z.strictObject({
  /** Id of the model card. */
  model: z.string(),
  /** Share of right answers. */
  accuracy: fraction,
  /** Influence of the prompt's difficulty on right and wrong; the square root of the latent correlation between two equal models. */
  difficultyLoading: fraction,
  /** Mean and standard deviation of the logarithm of output tokens. */
  outputMu: z.number(),
  outputSigma: z.number().positive(),
  /** Influence of the prompt on the length of the answer. */
  lengthLoading: fraction,
});

/** One task and a family of models on it. */
const taskFiguresSchema = z.strictObject({
  category: z.string(),
  /** Share of the prompts. */
  weight: fraction,
  inputMu: z.number(),
  inputSigma: z.number().positive(),
  /** Correlations of three normal variables of every prompt: its difficulty, its tendency to long answers, its own length. */
  difficultyWithLength: z.number(),
  difficultyWithInput: z.number(),
  inputWithLength: z.number(),
  /** Smallest model first. */
  models: z.array(modelFiguresSchema),
});

export type ModelFigures = Readonly<z.infer<typeof modelFiguresSchema>>;
export type TaskFigures = Readonly<z.infer<typeof taskFiguresSchema>>;

/**
 * Figures of three families on grade-school arithmetic (GSM8K, 1319 prompts) and reasoning about code (CRUXEval, 800), fitted to
 * the per-prompt results that ZeroEval publishes (Apache-2.0). Accuracies, mu and sigma are the samples' own. Loadings are the
 * least-squares one-factor fit of tetrachoric correlations (right or wrong) and of correlations of log lengths; 0.98 is where
 * a loading is capped. The three correlations of a task are least squares too, through the biserial correlations of each model.
 *
 * Accuracy of the fit: of 38,000 to 100,000 prompts drawn for each task, accuracies come within 0.006 and the agreement of
 * two models (both right or both wrong) within 0.007 of the data. Mean output lengths come within 7 %, but for the smallest
 * model on code they are 9 to 12 % short (qwen2.5-3b: 207 tokens drawn, 235 in the data): a lognormal tail has none of the endless answers
 * that small models give. For the same reason wrong answers are longer in the data (276 tokens) than drawn (224).
 */
export const ladderFigures: readonly (readonly TaskFigures[])[] = z.array(z.array(taskFiguresSchema)).parse(table);
