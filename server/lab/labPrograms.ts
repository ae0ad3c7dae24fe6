import type { LabSpec } from "@/server/contracts/studio/lab";
import { arrivals } from "@/solver/engine/arrivals";
import { mixSeed } from "@/solver/numeric/random";
import type { PromptTexts } from "@/solver/prediction/programFacts";
import type { Sketch } from "@/solver/words/sketch";
import { drawPrograms, type ProgramDraw } from "@/solver/workflow/drawPrograms";
import { type AgentRun, measuredPrograms, withMeasuredPrograms } from "@/solver/workflow/measuredPrograms";
import type { ProgramSample } from "@/solver/workflow/programSample";
import { withSharedPrefixes } from "@/solver/workflow/sharedPrefixes";
import { workflows } from "@/solver/workflow/templates";
import { splitPrompts } from "@/solver/workload/split";
import type { OutcomeTable, Workload } from "@/solver/workload/workload";
import type { LabTask } from "./labTask";

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

/** Programs, and the known features of their prompts. */
export interface DrawnPrograms {
  readonly sample: ProgramSample;
  readonly texts: PromptTexts;
}

/** What programs of a run are drawn from. */
interface DrawnFrom {
  readonly task: Pick<LabTask, "spec" | "workload" | "recorded">;
  readonly table: OutcomeTable;
  /** By row of the outcome table. */
  readonly sketches: readonly (Sketch | null)[];
}

/** Programs of a seed that a run serves, at an arrival rate of one per second: from held-out prompts, recorded runs, or both. */
export function servedPrograms(from: DrawnFrom, seed: number): DrawnPrograms {
  const { sharedPrefixes } = from.task.spec;
  const drawn = withoutPrefixes(from, seed);
  if (sharedPrefixes === undefined) return drawn;
  return { ...drawn, sample: withSharedPrefixes(drawn.sample, { conversations: sharedPrefixes === "conversations" }) };
}

function withoutPrefixes(from: DrawnFrom, seed: number): DrawnPrograms {
  const { task, table } = from;
  const { spec, workload, recorded } = task;
  if (recorded !== undefined && recorded.share === undefined) {
    const arrivalSeconds = arrivals({ law: { kind: "poisson" }, requests: spec.programs, requestsPerSecond: 1, seed });
    return ofRuns(partsOf(recorded.runs, workload.seed).heldOut, { table, arrivalSeconds, seed });
  }
  return withRuns(heldOutPrograms(spec, workload, table, seed), { from, part: "heldOut", seed });
}

/** Programs that predictors learn from, and that engines' figures are read off. When they come is of no matter. */
export function learntPrograms(from: DrawnFrom, programs: number): DrawnPrograms {
  const { task, table } = from;
  const { spec, workload, recorded } = task;
  const seed = mixSeed(workload.seed, "planning programs");
  if (recorded !== undefined && recorded.share === undefined)
    return ofRuns(partsOf(recorded.runs, workload.seed).planning, { table, arrivalSeconds: new Float64Array(programs), seed });
  return withRuns(planningPrograms(spec, workload, table, programs), { from, part: "planning", seed });
}

/** Which of the prompts and recorded runs: those for learning, or those for serving. */
type Part = "planning" | "heldOut";

/** Programs of the mix; where a share of all are recorded runs, these take the places of as many, drawn one by one. */
function withRuns(
  drawn: ProgramSample,
  { from: { task, table, sketches }, part, seed }: { readonly from: DrawnFrom; readonly part: Part; readonly seed: number },
): DrawnPrograms {
  const { spec, workload, recorded } = task;
  const texts = promptTextsOf(task, sketches);
  const share = recorded?.share;
  if (recorded === undefined || share === undefined) return { sample: drawn, texts };
  const runs = partsOf(recorded.runs, workload.seed)[part];
  const prompts = splitPrompts(workload.outcomes.promptIds.length, workload.seed)[part];
  return { sample: withMeasuredPrograms(drawn, { runs, share, outcomes: table, prompts, correlation: spec.correlation, seed }), texts };
}

/** What is known of the prompts of the workload. */
export const promptTextsOf = ({ workload }: DrawnFrom["task"], sketches: DrawnFrom["sketches"]): PromptTexts => ({
  sketches,
  promptTokens: workload.outcomes.inputTokens,
});

/** Recorded runs divided like prompts: for learning, and for serving. */
function partsOf(runs: readonly AgentRun[], seed: number): { readonly [part in Part]: AgentRun[] } {
  const { planning, heldOut } = splitPrompts(runs.length, mixSeed(seed, "recorded runs"));
  const at = (rows: Int32Array): AgentRun[] => Array.from(rows, (row) => runs[row] as AgentRun);
  return { planning: at(planning), heldOut: at(heldOut) };
}

interface RunsDrawn {
  readonly table: OutcomeTable;
  readonly arrivalSeconds: Float64Array;
  readonly seed: number;
}

/** The prompt of a recorded run is what its first call was sent; its words are not read. */
function ofRuns(runs: readonly AgentRun[], { table, arrivalSeconds, seed }: RunsDrawn): DrawnPrograms {
  const sample = measuredPrograms({ runs, models: table.models.map(({ model }) => model), arrivalSeconds, seed });
  const promptTokens = Int32Array.from(runs, ({ calls }) => calls[0]?.promptTokens ?? 0);
  return { sample, texts: { sketches: [], promptTokens } };
}
