import { letterVotes, rightLetter } from "@/solver/ensemble/replay/modelledSample";
import { mixSeed, type Random, seededRandom } from "@/solver/numeric/random";
import type { OutcomeTable } from "@/solver/workload/workload";
import type { ProgramSample } from "./programSample";
import { promptRows } from "./promptRows";
import type { Workflow } from "./workflow";

/** Inputs from which programs are drawn. */
export interface ProgramDraw {
  readonly outcomes: OutcomeTable;
  /** Rows of the table that may be drawn. */
  readonly prompts: Int32Array;
  /** Shares, normalised by their sum. */
  readonly mix: readonly { readonly workflow: Workflow; readonly share: number }[];
  /** Correlation of the rows' lengths and labels between any two stages of a program, 0..1. */
  readonly correlation: number;
  /** Probability that a stage which follows a wrong answer is misled by it (`programQuality.ts`), 0..1; left out: none ever is. */
  readonly misleads?: number;
  /** One per program, ascending. */
  readonly arrivalSeconds: Float64Array;
  readonly seed: number;
}

/**
 * Draws programs from single answers. The relation of a program's stages to them is modelled, since no public trace has workflows answered
 * by several models and graded:
 *
 * - Every program has a prompt, and each of its stages a row of the table (`promptRows.ts`). So each stage has the table's own marginal
 *   distribution. A workflow of a single stage always has its own prompt's row: that this row belongs to its prompt is measured.
 * - A stage writes the row's tokens times the role's ratio times a lognormal factor of median 1, the same for every model. The label is the
 * row's.
 * - Where a stage may be skipped, every answer has a vote: the program's right letter, or a wrong one drawn for the model
 *   (`modelledSample.ts`).
 * - Where `misleads` is given, a stage is misled with that probability, whichever models answer it and whatever it reads.
 *
 * Programs are drawn one after another from one stream: a smaller sample is a prefix of a larger one, every rate gets the same programs,
 * and a change of correlation changes only the rows. A separate stream decides which stages are misled, and a higher probability misleads a
 * superset of them.
 *
 * @throws RangeError without prompts, with a mix without shares, or with a correlation or a probability to be misled outside 0..1.
 */
export function drawPrograms({ outcomes, prompts, mix, correlation, misleads, arrivalSeconds, seed }: ProgramDraw): ProgramSample {
  if (misleads !== undefined && !(misleads >= 0 && misleads <= 1))
    throw new RangeError(`The chance to be misled lies in 0..1, found ${misleads}`);
  const shapes = shapesOf(mix);
  const random = seededRandom(mixSeed(seed, "programs"));
  const rows = promptRows({ prompts, correlation }, random);
  const programs = arrivalSeconds.length;
  const workflow = new Uint16Array(programs);
  const prompt = new Int32Array(programs);
  const firstRequest = new Int32Array(programs + 1);
  const requests: { program: number; row: number; givenTokens: number; factor: number }[] = [];
  for (let at = 0; at < programs; at += 1) {
    const shape = pick(shapes, random);
    const own = rows.own();
    workflow[at] = shape;
    prompt[at] = own;
    const { stages } = shapes[shape]?.workflow ?? { stages: [] };
    for (const stage of stages) {
      requests.push({
        program: at,
        row: rows.ofStage(own, stages.length === 1),
        givenTokens: stage.instructionTokens + (outcomes.inputTokens[own] ?? 0),
        factor: stage.lengthRatio * random.lognormal(0, stage.lengthSpread),
      });
    }
    firstRequest[at + 1] = requests.length;
  }
  return {
    models: outcomes.models.map(({ model }) => model),
    workflows: shapes.map((shape) => shape.workflow),
    arrivalSeconds,
    workflow,
    prompt,
    firstRequest,
    program: Int32Array.from(requests, ({ program }) => program),
    row: Int32Array.from(requests, ({ row }) => row),
    givenTokens: Int32Array.from(requests, ({ givenTokens }) => givenTokens),
    outputTokens: outcomes.models.map(({ outputTokens }) =>
      Int32Array.from(requests, ({ row, factor }) => Math.max(1, Math.round((outputTokens[row] ?? 0) * factor))),
    ),
    label: outcomes.models.map(({ label }) => Float64Array.from(requests, ({ row }) => label[row] ?? Number.NaN)),
    ...(misleads === undefined ? {} : { misled: misledOf(requests.length, misleads, seed) }),
    ...(shapes.some((shape) => shape.workflow.stages.some(({ gate }) => gate !== undefined)) && {
      votes: outcomes.models.map(({ model, label }) =>
        letterVotes(
          requests.map(({ program, row }) => ({ right: rightLetter(seed, String(program)), label: label[row] ?? 0 })),
          { seed, model },
        ),
      ),
    }),
  };
}

function misledOf(requests: number, chance: number, seed: number): Uint8Array {
  const random = seededRandom(mixSeed(seed, "misled"));
  return Uint8Array.from({ length: requests }, () => (random.next() < chance ? 1 : 0));
}

/** A workflow of one shape, and the cumulative share up to and including it. */
interface DrawnShape {
  readonly workflow: Workflow;
  readonly upTo: number;
}

function shapesOf(mix: ProgramDraw["mix"]): readonly DrawnShape[] {
  let upTo = 0;
  const shapes: DrawnShape[] = [];
  for (const { workflow, share } of mix) {
    const { otherShapes = [], ...plain } = workflow;
    const otherShare = otherShapes.reduce((sum, other) => sum + other.share, 0);
    for (const shape of [{ stages: plain.stages, share: 1 - otherShare }, ...otherShapes]) {
      upTo += share * shape.share;
      shapes.push({ workflow: { ...plain, stages: shape.stages }, upTo });
    }
  }
  if (!(upTo > 0 && Number.isFinite(upTo))) throw new RangeError("A mix needs workflows with shares above 0");
  return shapes;
}

/** Index of a shape, drawn by the shares. */
function pick(shapes: readonly DrawnShape[], random: Random): number {
  const at = random.next() * (shapes[shapes.length - 1]?.upTo ?? 0);
  const picked = shapes.findIndex(({ upTo }) => at < upTo);
  return picked < 0 ? shapes.length - 1 : picked;
}
