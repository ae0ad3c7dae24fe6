import { normalQuantile } from "@/solver/numeric/normal";
import { mixSeed, type Random, seededRandom } from "@/solver/numeric/random";
import type { LabelledTable } from "./applyJudge";
import { buildWorkload } from "./buildWorkload";
import { ladderFigures, type ModelFigures, type TaskFigures } from "./ladderFigures";
import type { Workload } from "./workload";

/** Three sizes of Qwen2.5 that together fit two nodes of four L40S, each clearly better than the previous one. */
export const DEFAULT_LADDER: readonly string[] = ["qwen2.5-3b", "qwen2.5-7b", "qwen2.5-32b"];

/** Longest answer: the output limit under which the fitted answers were made. */
const MAX_OUTPUT_TOKENS = 4096;

export interface GeneratedOptions {
  readonly prompts: number;
  /** 2 to 4 model cards of one family, smallest first. */
  readonly ladder?: readonly string[];
  readonly seed: number;
}

/**
 * The workload that ships with the product: prompts, answers and arrivals drawn from distributions fitted to published results, so
 * that a new user can plan without a table. Every prompt has three correlated latent normal variables: difficulty,
 * tendency to long answers, own length. A model is right when its mix of the difficulty and its own noise is below the
 * quantile of its accuracy (a one-factor Gaussian copula), so the models' errors are correlated as in the data; lengths
 * are lognormal. The judge is modelled, arrivals are a Gamma renewal process.
 *
 * @throws RangeError when no family has all models of the ladder; the message lists those that have.
 */
export function generatedWorkload({ prompts, ladder = DEFAULT_LADDER, seed }: GeneratedOptions): Workload {
  const tasks = tasksOf(ladder);
  return buildWorkload({
    name: `Generated: ${ladder.join(", ")}`,
    outcomes: {
      table: drawTable(tasks, prompts, seededRandom(mixSeed(seed, "outcomes"))),
      origin: `generated from figures fitted to ZeroEval results on ${tasks.map(({ category }) => category).join(" and ")}`,
      generated: true,
    },
    arrivals: null,
    judgeAuc: null,
    seed,
  });
}

/** The tasks of the family that has the ladder, each with the ladder's models only. */
function tasksOf(ladder: readonly string[]): readonly TaskFigures[] {
  const idsOf = (family: readonly TaskFigures[]): readonly string[] => family[0]?.models.map((figures) => figures.model) ?? [];
  const family = ladderFigures.find((candidate) => {
    const positions = ladder.map((id) => idsOf(candidate).indexOf(id));
    return positions.every((position, at) => position > (positions[at - 1] ?? -1));
  });
  if (family === undefined || ladder.length < 2) {
    const choices = ladderFigures.map((candidate) => idsOf(candidate).join(" < ")).join("; ");
    throw new RangeError(`No figures for the ladder ${ladder.join(", ")}: take at least two models, smallest first, of one of ${choices}`);
  }
  return family.map((task) => ({ ...task, models: task.models.filter((figures) => ladder.includes(figures.model)) }));
}

function drawTable(tasks: readonly TaskFigures[], prompts: number, random: Random): LabelledTable {
  const models = (tasks[0]?.models ?? []).map(({ model }) => ({
    model,
    tableName: model,
    outputTokens: new Int32Array(prompts),
    label: new Float64Array(prompts),
    judged: null,
  }));
  const inputTokens = new Int32Array(prompts);
  const categories: string[] = [];
  for (let prompt = 0; prompt < prompts; prompt++) {
    const task = taskAt(tasks, (prompt + 0.5) / prompts);
    const traits = drawTraits(task, random);
    categories.push(task.category);
    inputTokens[prompt] = Math.max(1, Math.round(Math.exp(task.inputMu + task.inputSigma * traits.input)));
    models.forEach(({ outputTokens, label }, at) => {
      const figures = task.models[at];
      if (figures === undefined) return;
      label[prompt] = isRight(figures, traits.difficulty, random) ? 100 : 0;
      outputTokens[prompt] = answerTokens(figures, traits.length, random);
    });
  }
  return { promptIds: categories.map((_, prompt) => `generated-${prompt}`), categories, inputTokens, models };
}

/** Tasks get their exact share of the prompts: a position 0..1 is looked up in the cumulative weights. */
function taskAt(tasks: readonly TaskFigures[], position: number): TaskFigures {
  let end = 0;
  for (const task of tasks) {
    end += task.weight;
    if (position < end) return task;
  }
  const last = tasks[tasks.length - 1];
  if (last === undefined) throw new RangeError("A ladder has at least one task");
  return last;
}

/** Three standard normal variables with the task's correlations: Cholesky's factor written explicitly. */
function drawTraits(task: TaskFigures, random: Random): { difficulty: number; length: number; input: number } {
  const difficulty = random.normal();
  const lengthOwn = Math.sqrt(1 - task.difficultyWithLength ** 2);
  const length = task.difficultyWithLength * difficulty + lengthOwn * random.normal();
  const inputByLength = (task.inputWithLength - task.difficultyWithInput * task.difficultyWithLength) / lengthOwn;
  const inputOwn = Math.sqrt(1 - task.difficultyWithInput ** 2 - inputByLength ** 2);
  const input =
    task.difficultyWithInput * difficulty +
    inputByLength * ((length - task.difficultyWithLength * difficulty) / lengthOwn) +
    inputOwn * random.normal();
  return { difficulty, length, input };
}

const isRight = (figures: ModelFigures, difficulty: number, random: Random): boolean =>
  mix(figures.difficultyLoading, difficulty, random) < normalQuantile(figures.accuracy);

function answerTokens(figures: ModelFigures, length: number, random: Random): number {
  const tokens = Math.exp(figures.outputMu + figures.outputSigma * mix(figures.lengthLoading, length, random));
  return Math.min(MAX_OUTPUT_TOKENS, Math.max(1, Math.round(tokens)));
}

/** A standard normal variable with weight `loading` on a shared factor, the rest independent. */
const mix = (loading: number, shared: number, random: Random): number => loading * shared + Math.sqrt(1 - loading ** 2) * random.normal();
