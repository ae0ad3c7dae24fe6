import type { PlacedReplica, Solving } from "../deployment/problem";
import { readDeployment } from "../deployment/readDeployment";
import { type TimedSolver, timedSolver } from "../deployment/timedSolver";
import { leastTime } from "./leastTime";
import { factorProgram, type MixProgram } from "./mixModel";
import { capacitiesOf, type MixReplicas, mixReplicas } from "./mixReplicas";
import { type MixProblem, problemRefusal } from "./problem";

export type { MixProblem } from "./problem";

/** What a mix asks of a model's replicas. */
export interface MixedModel {
  readonly model: string;
  /** At the asked rates. */
  readonly workPerSecond: number;
  /** Work a second of all its replicas at saturation; 0 without replicas. */
  readonly capacityPerSecond: number;
  /** Work over capacity; 0 without work. */
  readonly load: number;
  /**
   * Price of its capacity: by how many percent the factor rises with 1 % more of it, all else as it is. Prices of all models sum to 1 at
   * most. A difference of the linear program at 0.1 % more capacity with the replicas fixed, since no MILP engine here reports duals.
   */
  readonly price: number;
}

/** Engines and shares for a mix. */
export interface SolvedMix {
  readonly outcome: "mix";
  /** `feasible`: the time ran out before the proof that no other engines carry more, or are faster. */
  readonly status: "optimal" | "feasible";
  /** `stage` is the index of the model. */
  readonly replicas: readonly PlacedReplica[];
  /** By class, the share of each candidate; each sums to 1. */
  readonly shares: readonly (readonly number[])[];
  readonly models: readonly MixedModel[];
  /** By how much all rates may rise together until a model is loaded with the load factor, after the loss of a node where one may be lost; 1 or more. */
  readonly factor: number;
  /** The highest factor that any engines of the cluster were found to carry. */
  readonly highestFactor: number;
  /** Expected requests in flight and at the judge at the asked rates: by Little's law the rates times the mean times, queues left out. */
  readonly inFlight: number;
  /** The same without calls that run while a longer path of their program runs: programs and single requests that are served at a time. */
  readonly served: number;
  readonly solver: { readonly engine: string; readonly milps: number; readonly seconds: number };
}

/** Why there are no engines for a mix. */
export type NoMix =
  /** No candidate of the class reaches its floor; `best`: the highest lower bound of a quality. */
  | { readonly outcome: "none"; readonly kind: "floor"; readonly name: string; readonly floor: number; readonly best: number }
  /** Every candidate of the class asks for one of these models, which have no room on the cluster. */
  | { readonly outcome: "none"; readonly kind: "no-room"; readonly name: string; readonly models: readonly string[] }
  /** The cluster carries the mix at this factor of the asked rates at most, below 1. */
  | { readonly outcome: "none"; readonly kind: "overloaded"; readonly factor: number }
  /** No deployment keeps the constraints. */
  | { readonly outcome: "none"; readonly kind: "constraints" }
  /** The time ran out. */
  | { readonly outcome: "none"; readonly kind: "undecided" };

/** Within what share of the best a search may end: throughput is modelled to some percent. */
const GAP = 0.005;
/** Relative step of capacity for prices. */
const STEP = 1e-3;
const TOLERANCE = 1e-6;

/**
 * Engines for a mix of single requests, workflows and ensembles: the replicas and shares by which all rates can rise by the highest common
 * factor (which loads the busiest model least), then, of those within `slack` of that factor or that carry what is `enough`, the ones with
 * the least expected time at the asked rates, along the critical paths of workflows (`leastTime.ts`). Two MILPs, one more where a class has
 * one candidate for all of its requests, and at most two more where calls of a workflow run in parallel.
 *
 * @throws RangeError with the sentence of `problemRefusal`.
 */
export function solveMix(problem: MixProblem, solving: Solving): SolvedMix | NoMix {
  const refusal = problemRefusal(problem);
  if (refusal !== null) throw new RangeError(refusal);
  const none = unservable(problem);
  if (none !== null) return none;
  const solver = timedSolver(solving, GAP);
  const able = withoutUnable(problem);
  const replicas = mixReplicas(able);
  const highest = highestFactor(able, replicas, solver);
  if (highest.kind !== "found") return { outcome: "none", kind: highest.kind };
  if (highest.factor < 1 - TOLERANCE) return { outcome: "none", kind: "overloaded", factor: highest.factor };
  const kept = Math.max(1, Math.min(able.enough, (1 - able.slack) * highest.factor)) * (1 - TOLERANCE);
  const least = leastTime(able, replicas, { factor: kept, solver });
  if (least === null) return { outcome: "none", kind: "undecided" };
  const { program, x, inFlight, served } = least;
  const proven = highest.proven && least.proven;
  const placed = readDeployment(replicas.problem, replicas.deployment, x);
  return {
    ...{ outcome: "mix", status: proven ? "optimal" : "feasible", highestFactor: highest.factor },
    replicas: placed,
    ...servedBy(able, { replicas, program, x, placed }, solver),
    ...{ inFlight, served },
    solver: { engine: solving.engine.name, milps: solver.milps(), seconds: solver.seconds() },
  };
}

/** A class that no engines can serve as asked. */
function unservable({ classes, models, constraints }: MixProblem): NoMix | null {
  const absent = models.flatMap(({ model, shapes }) => (shapes.length === 0 || constraints.excluded.includes(model) ? [model] : []));
  for (const { name, floor, candidates } of classes) {
    const best = Math.max(0, ...candidates.map(({ quality }) => quality));
    if (best < floor - TOLERANCE) return { outcome: "none", kind: "floor", name, floor, best };
    const able = candidates.filter(({ work }) => isAble(work, models, absent));
    if (able.length === 0) return { outcome: "none", kind: "no-room", name, models: absent };
    const reached = Math.max(0, ...able.map(({ quality }) => quality));
    if (reached < floor - TOLERANCE) return { outcome: "none", kind: "floor", name, floor, best: reached };
  }
  return null;
}

/** Candidates that ask for absent models, and those below the floor of a class that has one for all, get infinite work: none serves them. */
function withoutUnable(problem: MixProblem): MixProblem {
  const { models, constraints } = problem;
  const absent = models.flatMap(({ model, shapes }) => (shapes.length === 0 || constraints.excluded.includes(model) ? [model] : []));
  const classes = problem.classes.map((own) => ({
    ...own,
    candidates: own.candidates.map((one) => {
      const able = isAble(one.work, models, absent) && (own.divisible || one.quality >= own.floor - TOLERANCE);
      return able ? one : { ...one, work: one.work.map(() => Number.POSITIVE_INFINITY) };
    }),
    // A floor that is reached exactly is not missed by a rounding error.
    floor: own.floor - TOLERANCE,
  }));
  return { ...problem, classes };
}

const isAble = (work: readonly number[], models: MixProblem["models"], absent: readonly string[]): boolean =>
  work.every((own, at) => Number.isFinite(own) && (own === 0 || !absent.includes(models[at]?.model ?? "")));

type Highest =
  | { readonly kind: "found"; readonly factor: number; readonly proven: boolean }
  | { readonly kind: "constraints" | "undecided" };

/** The highest factor, first with all classes divided, which bounds it where some are not. */
function highestFactor(problem: MixProblem, replicas: MixReplicas, solver: TimedSolver): Highest {
  const divided = factorProgram(problem, replicas, { whole: null });
  const bound = solver.solve(divided.milp);
  if (bound.status === "infeasible") return { kind: "constraints" };
  if (bound.status === "undecided") return { kind: "undecided" };
  const isWhole = problem.classes.every(({ divisible }, at) => divisible || positive(divided, bound.x, at).length <= 1);
  // Within its gap a search may miss the highest factor, which bounds that of whole classes.
  const factor = -bound.objective;
  const proven = bound.status === "optimal";
  if (isWhole || factor <= TOLERANCE) return { kind: "found", factor: Math.max(0, factor), proven };
  const mostFactor = -(bound.bound ?? bound.objective * (1 + 10 * GAP)) * (1 + GAP);
  const whole = solver.solve(factorProgram(problem, replicas, { whole: { mostFactor } }).milp);
  if (whole.status === "infeasible") return { kind: "found", factor: 0, proven };
  if (whole.status === "undecided") return { kind: "undecided" };
  return { kind: "found", factor: Math.max(0, -whole.objective), proven: proven && whole.status === "optimal" };
}

const positive = ({ shares }: MixProgram, x: ArrayLike<number>, at: number): readonly number[] =>
  (shares[at] ?? []).flatMap((variable, one) => (variable !== null && (x[variable] ?? 0) > TOLERANCE ? [one] : []));

interface Point {
  readonly replicas: MixReplicas;
  readonly program: MixProgram;
  readonly x: Float64Array;
  readonly placed: readonly PlacedReplica[];
}

/** What the replicas of a solution carry. */
function servedBy(
  problem: MixProblem,
  { replicas, program, x, placed }: Point,
  solver: TimedSolver,
): Pick<SolvedMix, "shares" | "models" | "factor"> {
  const shares = program.shares.map((own) => {
    const values = own.map((variable) => (variable === null ? 0 : Math.max(0, x[variable] ?? 0)));
    const sum = values.reduce((all, value) => all + value, 0);
    return values.map((value) => value / sum);
  });
  const chosen = problem.classes.map(({ divisible }, at) => (divisible ? null : (positive(program, x, at)[0] ?? null)));
  const capacities = capacitiesOf(problem, placed);
  const capacity = capacities.map(({ left }) => left);
  const factorWith = (own: readonly number[]): number => {
    const result = solver.solve(factorProgram(problem, replicas, { whole: null, chosen, capacity: own }).milp);
    return result.status === "optimal" || result.status === "feasible" ? -result.objective : Number.NaN;
  };
  const factor = factorWith(capacity);
  const models = problem.models.map(({ model }, at): MixedModel => {
    const workPerSecond = problem.classes.reduce(
      (sum, { candidates, requestsPerSecond }, own) =>
        sum +
        candidates.reduce((all, { work }, one) => {
          const share = shares[own]?.[one] ?? 0;
          return share === 0 ? all : all + share * requestsPerSecond * (work[at] ?? 0);
        }, 0),
      0,
    );
    const { all: capacityPerSecond = 0, left = 0 } = capacities[at] ?? {};
    const more = left === 0 ? factor : factorWith(capacity.map((own, other) => (other === at ? own * (1 + STEP) : own)));
    const price = Math.max(0, (more / factor - 1) / STEP);
    return { model, workPerSecond, capacityPerSecond, load: workPerSecond === 0 ? 0 : workPerSecond / capacityPerSecond, price };
  });
  return { shares, models, factor };
}
