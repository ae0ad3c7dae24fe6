import type { LabSpec } from "@/server/contracts/studio/lab";
import { arrivals } from "@/solver/engine/arrivals";
import { mixSeed } from "@/solver/numeric/random";
import { drawPrograms, type ProgramDraw } from "@/solver/workflow/drawPrograms";
import type { ProgramSample } from "@/solver/workflow/programSample";
import { workflows } from "@/solver/workflow/templates";
import { splitPrompts } from "@/solver/workload/split";
import type { OutcomeTable, Workload } from "@/solver/workload/workload";

/**
 * The workflows of a mix.
 * @throws Error for an unknown name; descriptions are validated before.
 */
function mixOf(mix: LabSpec["mix"]): ProgramDraw["mix"] {
  return mix.map(({ workflow: name, share }) => {
    const workflow = workflows.find((known) => known.name === name);
    if (workflow === undefined) throw new Error(`There is no workflow ${name}.`);
    return { workflow, share };
  });
}

/** The table with the models that have engines only, smallest first as in the table: predictions are made for no others. */
export function tableOf({ outcomes }: Pick<Workload, "outcomes">, models: readonly string[]): OutcomeTable {
  return { ...outcomes, models: outcomes.models.filter(({ model }) => models.includes(model)) };
}

/**
 * Programs of a seed at an arrival rate of one per second, from prompts held out from planning. Every rate uses the same programs with
 * shorter intervals: rates and systems do not differ in the draw. Arrivals of the workload are its trace, the same under every seed.
 */
export function heldOutPrograms(spec: LabSpec, workload: Workload, table: OutcomeTable, seed: number): ProgramSample {
  const law =
    spec.arrivals === "poisson" ? ({ kind: "poisson" } as const) : ({ kind: "trace", arrivalSeconds: workload.arrivalSeconds } as const);
  return drawPrograms({
    outcomes: table,
    prompts: splitPrompts(workload.outcomes.promptIds.length, workload.seed).heldOut,
    mix: mixOf(spec.mix),
    correlation: spec.correlation,
    ...misleading(spec),
    arrivalSeconds: arrivals({ law, requests: spec.programs, requestsPerSecond: 1, seed }),
    seed,
  });
}

/** The chance to be misled, where a description says one. */
const misleading = ({ misleads }: Pick<LabSpec, "misleads">): Pick<ProgramDraw, "misleads"> => (misleads === undefined ? {} : { misleads });

/** The same programs at another rate, in programs a second. */
export const atRate = (sample: ProgramSample, rate: number): ProgramSample => ({
  ...sample,
  arrivalSeconds: sample.arrivalSeconds.map((seconds) => seconds / rate),
});

/** Programs of prompts that plans are made on: what predictors learn from, and what engines' figures are read off. When they come is of no matter. */
export function planningPrograms(
  { mix, correlation, misleads }: Pick<LabSpec, "mix" | "correlation" | "misleads">,
  workload: Pick<Workload, "outcomes" | "seed">,
  table: OutcomeTable,
  programs: number,
): ProgramSample {
  return drawPrograms({
    outcomes: table,
    prompts: splitPrompts(workload.outcomes.promptIds.length, workload.seed).planning,
    mix: mixOf(mix),
    correlation,
    ...misleading({ misleads }),
    arrivalSeconds: new Float64Array(programs),
    seed: mixSeed(workload.seed, "planning programs"),
  });
}
