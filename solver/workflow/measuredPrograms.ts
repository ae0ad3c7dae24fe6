import { mixSeed, seededRandom } from "@/solver/numeric/random";
import { shuffled } from "@/solver/numeric/shuffled";
import { joinedPrograms } from "./joinedPrograms";
import { type OutcomeDraw, withOutcomes } from "./measuredOutcomes";
import type { ProgramSample } from "./programSample";
import type { Workflow } from "./workflow";

/** One call of a recorded run. */
export interface AgentCall {
  /** Empty where the record has none. */
  readonly agent: string;
  /** Its purpose: "Coding". Empty where the record does not contain it. */
  readonly phase: string;
  readonly promptTokens: number;
  readonly completionTokens: number;
}

/** A recorded run of agents, as sequential calls. */
export interface AgentRun {
  readonly id: string;
  readonly calls: readonly AgentCall[];
}

export interface MeasuredDraw {
  readonly runs: readonly AgentRun[];
  /** Models that may answer, smallest first. */
  readonly models: readonly string[];
  /** One per program, ascending. */
  readonly arrivalSeconds: Float64Array;
  readonly seed: number;
}

/** The name of the workflow that all recorded runs have. */
export const RECORDED_RUN = "recorded-run";

/** Maximum number of runs in `ProgramSample.workflow`. */
const MOST_RUNS = 65_536;

/**
 * Programs that repeat the calls of recorded runs, lap after lap through the runs, each lap in a separate order. Calls are sequential: each
 * reads the answer before it, and its other input is the rest of its recorded prompt; where the prompt is shorter than the answer before
 * it, the input is that answer. Every model writes the recorded output of the one that ran. Quality is unknown, and pauses between calls,
 * in which people reviewed and programs ran, are not kept. `prompt` and `row` are indices of runs.
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

/** What recorded runs among drawn programs are drawn from: `outcomes` has the models of the programs. */
export interface MeasuredShare extends OutcomeDraw {
  readonly runs: readonly AgentRun[];
  /** Share of the programs, 0..1. */
  readonly share: number;
}

/**
 * Drawn programs of which a share are recorded runs in their places, each with this probability; their outcomes are drawn from the same table
 * (`measuredOutcomes.ts`).
 *
 * @throws RangeError as `measuredPrograms` and `withOutcomes` do.
 */
export function withMeasuredPrograms(drawn: ProgramSample, { runs, share, ...draw }: MeasuredShare): ProgramSample {
  const { models, arrivalSeconds } = drawn;
  const measured = withOutcomes(measuredPrograms({ runs, models, arrivalSeconds, seed: draw.seed }), draw);
  const random = seededRandom(mixSeed(draw.seed, "share of recorded runs"));
  return joinedPrograms(drawn, measured, () => random.next() < share);
}

function workflowOf({ id, calls }: AgentRun): Workflow {
  return {
    name: RECORDED_RUN,
    title: `Recorded run ${id}`,
    stages: calls.map(({ agent, phase }, at) => ({
      role: [agent, phase].filter((part) => part !== "").join(": ") || "unnamed",
      part: "helps",
      reads: at === 0 ? [] : [at - 1],
      // Prompts were recorded completely.
      instructionTokens: 0,
      lengthRatio: 1,
      lengthSpread: 0,
    })),
    source: "A recorded run; lengths as measured.",
  };
}
