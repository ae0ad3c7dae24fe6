import type { TimedSolver } from "../deployment/timedSolver";
import { parallelSeconds } from "./criticalPath";
import { type TimeProgram, timeProgram } from "./mixModel";
import type { MixReplicas } from "./mixReplicas";
import type { MixProblem } from "./problem";

/** Engines and shares with the least expected time that was found. */
interface LeastTime {
  readonly program: TimeProgram;
  readonly x: Float64Array;
  readonly proven: boolean;
  /** Requests in flight and at the judge: all calls count. */
  readonly inFlight: number;
  /** Mean requests, or programs, that are served at a time: of calls in parallel the longest path counts. */
  readonly served: number;
}

/** Time programs at most. Each reads the critical paths at the times of the one before it. */
const MOST_PROGRAMS = 3;
/** A share by which a further program must be better. */
const LEAST_GAIN = 0.001;

/**
 * The least expected time of a mix for replicas that carry `factor` times the rates. Which path of a workflow is critical depends on how
 * long a unit of work takes at each model, and that on the load, which no linear program can multiply by shares. So the first program
 * counts all calls; each further one takes the critical paths at the times of the one before. The best of them by its own times is
 * returned: never worse than the first. Where no candidate has calls in parallel the first is all.
 *
 * @returns null where the time ran out before the first.
 */
export function leastTime(problem: MixProblem, replicas: MixReplicas, at: { factor: number; solver: TimedSolver }): LeastTime | null {
  let best: LeastTime | null = null;
  let secondsOfWork: readonly number[] | null = null;
  for (let count = 0; count < MOST_PROGRAMS; count += 1) {
    const program = timeProgram(problem, replicas, { factor: at.factor, secondsOfWork });
    const result = at.solver.solve(program.milp);
    if (result.status !== "optimal" && result.status !== "feasible") break;
    const { x } = result;
    const seconds = secondsAt(problem, program, x);
    const parallel = overShares(problem, program, x, (candidate) => parallelSeconds(candidate, seconds));
    const other = overShares(problem, program, x, ({ otherSeconds }) => otherSeconds);
    const inFlight = other + program.loads.flat().reduce((sum, load) => sum + (x[load.inFlight] ?? 0), 0);
    const found = { program, x, proven: result.status === "optimal", inFlight, served: inFlight - parallel };
    if (best !== null && found.served > best.served * (1 - LEAST_GAIN)) break;
    best = found;
    if (!problem.classes.some(({ candidates }) => candidates.some((candidate) => parallelSeconds(candidate, seconds) > 0))) break;
    secondsOfWork = seconds;
  }
  return best;
}

/** By model, seconds for a unit of work at the loads of a solution; without load those of one request alone at the quickest shape. */
function secondsAt({ models }: MixProblem, { loads }: TimeProgram, x: Float64Array): readonly number[] {
  return models.map(({ shapes }, model) => {
    const own = loads[model] ?? [];
    const work = own.reduce((sum, load) => sum + (x[load.work] ?? 0), 0);
    if (work > 1e-9) return own.reduce((sum, load) => sum + (x[load.inFlight] ?? 0), 0) / work;
    const alone = shapes.flatMap(({ curve: [first] }) => (first === undefined ? [] : [first.inFlight / first.workPerSecond]));
    return alone.length === 0 ? 0 : Math.min(...alone);
  });
}

/** Seconds of each candidate times the rate at which a solution has it, summed. */
function overShares(
  { classes }: MixProblem,
  { shares }: TimeProgram,
  x: Float64Array,
  secondsOf: (candidate: MixProblem["classes"][number]["candidates"][number]) => number,
): number {
  return classes.reduce(
    (sum, { candidates, requestsPerSecond }, at) =>
      candidates.reduce((all, candidate, one) => {
        const variable = shares[at]?.[one] ?? null;
        const share = variable === null ? 0 : (x[variable] ?? 0);
        return share === 0 ? all : all + requestsPerSecond * share * secondsOf(candidate);
      }, sum),
    0,
  );
}
