import { z } from "zod";
import { mixSeed } from "@/solver/numeric/random";
import type { WorkflowDocument } from "@/solver/plan/workflowDocument";
import { sketchOf } from "@/solver/words/sketch";
import { accurateSet } from "@/solver/workflow/configurationOutcomes";
import { membersOf } from "@/solver/workflow/configurationSet";
import { type ConfigurationSpace, configurationNames, configurationSpace } from "@/solver/workflow/configurationSpace";
import { workflowOfDocument } from "@/solver/workflow/workflowDocuments";
import type { ConfigurationRows } from "./configurationRows";
import { type BadRun, badRunWords, configurationWords, type LeftOutRuns } from "./leftOutRuns";
import type { RequestFacts } from "./predictor";

/** Minimum number of inputs: below it neither part is meaningful. */
export const LEAST_INPUTS = 50;

/** Share of the inputs in the training part. */
const TRAINING_SHARE = 0.7;

/** The gateways' estimate of prompt tokens. */
const CHARACTERS_A_TOKEN = 4;

/** A line of a file of executed runs, counted from 1; text null where there is none. */
export interface RunLine {
  readonly line: number;
  readonly text: string | null;
}

/** A program that was run and graded: its input, the model of each agent by name, and the quality of its answer in 0..100. */
export type ExecutedRun = z.infer<typeof runSchema>;

const runSchema = z.object({ input: z.string().min(1), configuration: z.record(z.string(), z.string()), quality: z.number() });

/** Training and test data from executed runs. */
export interface ExecutedRows {
  /** Their prompts are indices into `inputs`; neither part has a prompt of the other. */
  readonly rows: ConfigurationRows;
  readonly heldOut: ConfigurationRows;
  /** Inputs for which every configuration was executed. */
  readonly inputs: readonly string[];
  /** Runs that are used for training. */
  readonly runs: number;
  readonly leftOut: LeftOutRuns;
}

/** The run in a line of JSON, or why it is no run. */
export function readRun(text: string | null): ExecutedRun | "damaged" | "quality" {
  let value: unknown;
  try {
    value = text === null ? null : JSON.parse(text);
  } catch {
    return "damaged";
  }
  const run = runSchema.safeParse(value);
  if (!run.success) return "damaged";
  return run.data.quality >= 0 && run.data.quality <= 100 ? run.data : "quality";
}

/** The number of a configuration given in words, every agent with its model; or why it is not in the space. */
function configurationNumber(space: ConfigurationSpace, names: Readonly<Record<string, string>>): number | BadRun {
  if (Object.keys(names).length !== space.agents.length || !space.agents.every((agent) => Object.hasOwn(names, agent))) return "agents";
  const models = space.agents.map((agent) => space.models.indexOf(names[agent] ?? ""));
  if (models.includes(-1)) return "models";
  const chosen = new Map<number, number>();
  for (const [agent, choice] of space.choiceOf.entries()) {
    const option = space.options[choice]?.indexOf(models[agent] ?? -1) ?? -1;
    if (option < 0 || option !== (chosen.get(choice) ?? option)) return "constraints";
    chosen.set(choice, option);
  }
  return [...chosen].reduce((sum, [choice, option]) => sum + option * (space.steps[choice] ?? 1), 0);
}

/** A run of a space, with its configuration as a number; or why it is no such run. */
function numberedRun(text: string | null, space: ConfigurationSpace) {
  const run = readRun(text);
  if (typeof run === "string") return run;
  const configuration = configurationNumber(space, run.configuration);
  return typeof configuration === "string" ? configuration : { ...run, configuration };
}

/** Runs of one input: the line of the first, and for each executed configuration the number of runs and the sum of their qualities. */
interface Executions {
  readonly input: string;
  readonly firstLine: number;
  readonly of: Map<number, { count: number; sum: number }>;
}

/**
 * Training data from executed and graded runs, as the source trains its heads (Aragog, section 3.1): from inputs for which every
 * configuration was executed. A configuration is accurate where the mean quality of its runs is at least that of the largest models'. A
 * hash of an input's text decides its part, seven in ten for training, so that the order of the lines has no influence. Lines that are no
 * run are counted.
 *
 * @param models smallest first.
 * @throws RangeError, in a sentence, where the workflow has no configurations over the models, no line is a run, or fewer than
 * `LEAST_INPUTS` inputs are complete.
 */
export function executedRows(lines: Iterable<RunLine>, workflow: WorkflowDocument, models: readonly string[]): ExecutedRows {
  const space = configurationSpace(workflow, models);
  const inputs = new Map<string, Executions>();
  const bad = new Map<BadRun, { lines: number; firstLine: number }>();
  for (const { line, text } of lines) {
    const run = numberedRun(text, space);
    if (typeof run === "string") {
      const known = bad.get(run) ?? { lines: 0, firstLine: line };
      bad.set(run, { ...known, lines: known.lines + 1 });
      continue;
    }
    const { input, configuration, quality } = run;
    const own = inputs.get(input) ?? { input, firstLine: line, of: new Map() };
    inputs.set(input, own);
    const known = own.of.get(configuration) ?? { count: 0, sum: 0 };
    own.of.set(configuration, { count: known.count + 1, sum: known.sum + quality });
  }
  const all = [...inputs.values()];
  const whole = byText(all.filter(({ of }) => of.size === space.size));
  const leftOut = leftOutOf(all, bad, space);
  if (all.length === 0) throw new RangeError(noRuns(leftOut, workflow, models));
  if (whole.length < LEAST_INPUTS) throw new RangeError(tooFew(whole.length, leftOut, space, workflow));
  const cut = Math.round(TRAINING_SHARE * whole.length);
  const factsOf = factsFor(workflow);
  const rowsOf = (from: number, to: number): ConfigurationRows => {
    const part = whole.slice(from, to);
    const qualities = part.map(({ of }) =>
      Float64Array.from({ length: space.size }, (_, at) => (of.get(at)?.sum ?? 0) / (of.get(at)?.count ?? 1)),
    );
    const accurate = new Float32Array(part.length * space.size);
    for (const [row, quality] of qualities.entries())
      for (const member of membersOf(accurateSet(quality))) accurate[row * space.size + member] = 1;
    return {
      ...{ workflow, space, accurate, facts: part.map(({ input }) => factsOf(input)) },
      prompts: Int32Array.from(part, (_, at) => from + at),
      programs: new Float32Array(part.length).fill(1),
      loss: Float32Array.from(accurate, (_, at) => {
        const quality = qualities[Math.floor(at / space.size)];
        return (quality?.[space.size - 1] ?? 0) - (quality?.[at % space.size] ?? 0);
      }),
    };
  };
  const runs = whole.slice(0, cut).reduce((sum, { of }) => [...of.values()].reduce((own, { count }) => own + count, sum), 0);
  return { rows: rowsOf(0, cut), heldOut: rowsOf(cut, whole.length), inputs: whole.map(({ input }) => input), runs, leftOut };
}

/** A pseudo-random order that depends only on the texts. */
function byText(of: readonly Executions[]): readonly Executions[] {
  const keyed = of.map((one) => ({ one, key: mixSeed("executed runs", one.input) }));
  return keyed.sort((a, b) => a.key - b.key || (a.one.input < b.one.input ? -1 : 1)).map(({ one }) => one);
}

/** The facts known of a request that begins a program. */
function factsFor(workflow: WorkflowDocument): (input: string) => RequestFacts {
  const { role: stage = "", instructionTokens = 0 } = workflowOfDocument(workflow).stages[0] ?? {};
  return (input) => {
    const promptTokens = Math.ceil(input.length / CHARACTERS_A_TOKEN);
    const inputTokens = instructionTokens + promptTokens;
    return { instructionTokens, promptTokens, inputTokens, workflow: workflow.name, stage, sketch: sketchOf(input) };
  };
}

function leftOutOf(
  all: readonly Executions[],
  bad: ReadonlyMap<BadRun, { readonly lines: number; readonly firstLine: number }>,
  space: ConfigurationSpace,
): LeftOutRuns {
  const lacking = all.filter(({ of }) => of.size < space.size);
  const [first] = lacking;
  let lacks = 0;
  while (first?.of.has(lacks)) lacks++;
  return {
    lines: [...bad].map(([problem, counted]) => ({ problem, ...counted })).sort((a, b) => b.lines - a.lines || a.firstLine - b.firstLine),
    inputs: lacking.length,
    first: first === undefined ? null : { line: first.firstLine, lacks: configurationNames(space, lacks) },
  };
}

function noRuns({ lines }: LeftOutRuns, { name }: WorkflowDocument, models: readonly string[]): string {
  const [most] = lines;
  if (most === undefined) return "The file has no lines: it needs one for each executed run.";
  return `No line is an executed run of ${name} over ${models.join(", ")}: ${most.lines === 1 ? "one has" : `${most.lines} have`} ${badRunWords[most.problem]}, line ${most.firstLine} first.`;
}

function tooFew(whole: number, { first }: LeftOutRuns, { size }: ConfigurationSpace, { name }: WorkflowDocument): string {
  const lacking = first === null ? "" : `; the input of line ${first.line} lacks ${configurationWords(first.lacks)}`;
  return `All ${size} configurations of ${name} were executed of ${whole} inputs, and learning needs ${LEAST_INPUTS}${lacking}.`;
}
