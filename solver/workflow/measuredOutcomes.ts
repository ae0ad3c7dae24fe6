import { mixSeed, seededRandom } from "@/solver/numeric/random";
import type { OutcomeTable } from "@/solver/workload/workload";
import type { ProgramSample } from "./programSample";
import { promptRows } from "./promptRows";

/** What outcomes of recorded runs are drawn from. */
export interface OutcomeDraw {
  /** Its models are those of the sample, in the same order. */
  readonly outcomes: OutcomeTable;
  /** Rows of the table that may be drawn. */
  readonly prompts: Int32Array;
  /** Correlation of the rows' labels between any two calls of a run, 0..1. */
  readonly correlation: number;
  readonly seed: number;
}

/**
 * Recorded runs with outcomes from single answers. The records contain neither the texts of prompts nor grades, so that outcomes are
 * modelled: every call is taken to answer the prompt of a row of the table, with that row's label, and a run is as good as its last answer.
 * Agents, their order and all lengths stay as recorded. `prompt` and `row` become rows of the table.
 *
 * @throws RangeError where the models differ, without prompts, or with a correlation outside 0..1.
 */
export function withOutcomes(sample: ProgramSample, { outcomes, prompts, correlation, seed }: OutcomeDraw): ProgramSample {
  const models = outcomes.models.map(({ model }) => model);
  if (models.join() !== sample.models.join())
    throw new RangeError(`Outcomes are of ${models.join(", ")}, and the runs are answered by ${sample.models.join(", ")}`);
  const rows = promptRows({ prompts, correlation }, seededRandom(mixSeed(seed, "outcomes of recorded runs")));
  const { firstRequest } = sample;
  const prompt = sample.prompt.slice();
  const row = sample.row.slice();
  for (const program of prompt.keys()) {
    const [first = 0, end = 0] = firstRequest.subarray(program, program + 2);
    const own = rows.own();
    prompt[program] = own;
    for (let request = first; request < end; request += 1) row[request] = rows.ofStage(own, end - first === 1);
  }
  return {
    ...{ ...sample, prompt, row },
    workflows: sample.workflows.map((workflow) => ({
      ...workflow,
      stages: workflow.stages.map((stage) => ({ ...stage, part: "solves" as const })),
    })),
    label: outcomes.models.map(({ label }) => Float64Array.from(row, (at) => label[at] ?? Number.NaN)),
  };
}
