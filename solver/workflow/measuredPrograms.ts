import { mixSeed, seededRandom } from "@/solver/numeric/random";
import { shuffled } from "@/solver/numeric/shuffled";
import type { ProgramSample } from "./programSample";
import type { Workflow } from "./workflow";

/** One call of a recorded run. */
export interface AgentCall {
  /** Empty where the record names none. */
  readonly agent: string;
  /** What it was called for: "Coding". Empty where the record does not say. */
  readonly phase: string;
  readonly promptTokens: number;
  readonly completionTokens: number;
}

/** A recorded run of agents, one call after another. */
export interface AgentRun {
  readonly id: string;
  readonly calls: readonly AgentCall[];
}

export interface MeasuredDraw {
  readonly runs: readonly AgentRun[];
  /** Models that may answer, smallest first. */
  readonly models: readonly string[];
  /** One a program, ascending. */
  readonly arrivalSeconds: Float64Array;
  readonly seed: number;
}

/** `ProgramSample.workflow` has room for no more. */
const MOST_RUNS = 65_536;

/**
 * Programs that call what recorded runs called, lap after lap through the runs, each lap in an order of its own. Calls follow one another: each
 * reads the answer before it, and its other input is what its recorded prompt has beyond that; where the prompt is shorter than the answer before it,
 * the input is that answer. Every model writes what was recorded of the one that ran. Nothing is known of quality, and nothing is kept of pauses between
 * calls, in which people reviewed and programs ran. `prompt` and `row` are indices of runs.
 *
 * @throws RangeError without runs, or with more than 65,536 of them.
 */
export function measuredPrograms({ runs, models, arrivalSeconds, seed }: MeasuredDraw): ProgramSample {
  if (runs.length === 0 || runs.length > MOST_RUNS) {
    throw new RangeError(`Programs are made of 1 to ${MOST_RUNS} recorded runs, found ${runs.length}`);
  }
  const random = seededRandom(mixSeed(seed, "recorded runs"));
  const laps = Array.from({ length: Math.ceil(arrivalSeconds.length / runs.length) }, () => [...shuffled(runs.length, random)]);
  const drawn = laps.flat().slice(0, arrivalSeconds.length);
  const firstRequest = new Int32Array(drawn.length + 1);
  for (const [at, run] of drawn.entries()) firstRequest[at + 1] = (firstRequest[at] ?? 0) + (runs[run]?.calls.length ?? 0);
  const calls = drawn.flatMap((run, program) =>
    (runs[run]?.calls ?? []).map((call, at, all) => ({ program, run, call, before: all[at - 1] })),
  );
  const outputTokens = Int32Array.from(calls, ({ call }) => call.completionTokens);
  const label = new Float64Array(calls.length).fill(Number.NaN);
  return {
    models,
    workflows: runs.map(workflowOf),
    arrivalSeconds,
    workflow: Uint16Array.from(drawn),
    prompt: Int32Array.from(drawn),
    firstRequest,
    program: Int32Array.from(calls, ({ program }) => program),
    row: Int32Array.from(calls, ({ run }) => run),
    givenTokens: Int32Array.from(calls, ({ call, before }) => Math.max(0, call.promptTokens - (before?.completionTokens ?? 0))),
    outputTokens: models.map(() => outputTokens),
    label: models.map(() => label),
  };
}

function workflowOf({ id, calls }: AgentRun): Workflow {
  return {
    name: "recorded-run",
    title: `Recorded run ${id}`,
    stages: calls.map(({ agent, phase }, at) => ({
      role: [agent, phase].filter((part) => part !== "").join(": ") || "unnamed",
      part: "helps",
      reads: at === 0 ? [] : [at - 1],
      // Prompts were recorded whole.
      instructionTokens: 0,
      lengthRatio: 1,
      lengthSpread: 0,
    })),
    source: "A recorded run; lengths as measured.",
  };
}
