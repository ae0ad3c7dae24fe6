import { type Expression, rowOf, scaled, sumOf, variableOf } from "../deployment/expression";
import type { MilpModel, Row, Variable } from "../milp/model";
import { parallelSeconds } from "./criticalPath";
import { inFlightBounds } from "./inFlight";
import type { MixReplicas } from "./mixReplicas";
import { capacityOf, type MixProblem } from "./problem";

/** A MILP with the variable of each candidate of each class; null for one that has none. */
export interface MixProgram {
  readonly milp: MilpModel;
  readonly shares: readonly (readonly (number | null)[])[];
}

/** A MILP with the work and the requests in flight of each shape of each model too, as variables. */
export interface TimeProgram extends MixProgram {
  readonly loads: readonly (readonly { readonly work: number; readonly inFlight: number }[])[];
}

/** What shares and replicas are fixed or bounded by. */
export interface FactorAsked {
  /** Whether classes that are not divisible have one candidate, and an upper bound of the factor then; null: all classes are divided. */
  readonly whole: { readonly mostFactor: number } | null;
  /** By class, the candidate that all of its requests have; null or left out: any. */
  readonly chosen?: readonly (number | null)[];
  /** By model, the capacity of the replicas, in work a second, that is left where a node may be lost; left out: replicas are chosen. */
  readonly capacity?: readonly number[];
}

/**
 * The highest factor f by which all rates may rise together. Its variables are y = f x share, which make it linear with the replicas:
 * for each class the sum of y is f and that of quality x y at least floor x f; for each model work of y is at most load factor x capacity
 * (Cascadia, section 3.2, plans replicas by MILP for one workload; the candidates of workflows are Aragog's configurations, section 3.1).
 */
export function factorProgram(problem: MixProblem, replicas: MixReplicas, asked: FactorAsked): MixProgram {
  const { deployment } = replicas;
  const { whole, chosen = [], capacity } = asked;
  const variables: Variable[] = capacity === undefined ? [...deployment.milp.variables] : [];
  const rows: Row[] = capacity === undefined ? [...deployment.milp.rows] : [];
  const factor = add(variables, { name: "factor", cost: -1, upper: whole?.mostFactor ?? Number.POSITIVE_INFINITY });
  const shares = shareVariables(problem, variables, chosen);
  for (const [at, { candidates, floor, divisible }] of problem.classes.entries()) {
    const own = shares[at] ?? [];
    rows.push(rowOf(`all_${at}`, sumOf([over(own, () => 1), variableOf(factor, -1)]), "=", 0));
    rows.push(rowOf(`floor_${at}`, sumOf([over(own, (one) => candidates[one]?.quality ?? 0), variableOf(factor, -floor)]), ">=", 0));
    if (whole === null || divisible || own.filter((variable) => variable !== null).length < 2) continue;
    const picked = pickOne(variables, rows, { at, own });
    for (const [one, pick] of picked)
      rows.push(rowOf(`if_${at}_${one}`, sumOf([variableOf(own[one] ?? 0), variableOf(pick, -whole.mostFactor)]), "<=", 0));
  }
  for (const [model] of problem.models.entries()) {
    const carried = capacity === undefined ? capacityLeft(problem, replicas, model) : { terms: [], constant: capacity[model] ?? 0 };
    rows.push(rowOf(`asked_${model}`, sumOf([workExpression(problem, shares, model), scaled(carried, -problem.loadFactor)]), "<=", 0));
  }
  return { milp: { name: "mix factor", variables, rows }, shares };
}

/** What a time program is asked for. */
interface TimeAsked {
  /** The factor of the rates that replicas must carry. */
  readonly factor: number;
  /** By model, seconds for a unit of work, by which the critical paths of candidates are known; null: all calls count. */
  readonly secondsOfWork: readonly number[] | null;
}

/**
 * The least number of requests in flight at the asked rates, without calls that run while a longer path of their program runs: the least
 * expected time by Little's law. Variables: shares, work of each shape, and its requests in flight.
 */
export function timeProgram(problem: MixProblem, replicas: MixReplicas, { factor, secondsOfWork }: TimeAsked): TimeProgram {
  const { deployment, counts } = replicas;
  const variables: Variable[] = [...deployment.milp.variables];
  const rows: Row[] = [...deployment.milp.rows];
  const shares = shareVariables(problem, variables, []);
  for (const [at, { candidates, floor, divisible, requestsPerSecond }] of problem.classes.entries()) {
    const own = shares[at] ?? [];
    rows.push(
      rowOf(
        `all_${at}`,
        over(own, () => 1),
        "=",
        1,
      ),
    );
    rows.push(
      rowOf(
        `floor_${at}`,
        over(own, (one) => candidates[one]?.quality ?? 0),
        ">=",
        floor,
      ),
    );
    for (const [one, variable] of own.entries()) {
      const known = variable === null ? undefined : variables[variable];
      if (variable === null || known === undefined) continue;
      const { otherSeconds = 0, calls = [] } = candidates[one] ?? {};
      const parallel = secondsOfWork === null ? 0 : parallelSeconds({ calls }, secondsOfWork);
      variables[variable] = { ...known, upper: 1, integer: !divisible, cost: requestsPerSecond * (otherSeconds - parallel) };
    }
  }
  const loads = problem.models.map(({ shapes }, model) => {
    const own = shapes.map((shape, at) => {
      const count = counts[model]?.[at] ?? sumOf([]);
      const work = add(variables, { name: `w_${model}_${at}`, cost: 0 });
      const inFlight = add(variables, { name: `n_${model}_${at}`, cost: 1 });
      rows.push(
        rowOf(`carry_${model}_${at}`, sumOf([variableOf(work, factor), scaled(count, -problem.loadFactor * capacityOf(shape))]), "<=", 0),
      );
      for (const [bound, { slope, intercept }] of inFlightBounds(shape).entries())
        rows.push(
          rowOf(
            `flight_${model}_${at}_${bound}`,
            sumOf([variableOf(work, slope), scaled(count, intercept), variableOf(inFlight, -1)]),
            "<=",
            0,
          ),
        );
      return { work, inFlight };
    });
    const carried = own.map(({ work }) => variableOf(work, -1));
    const asked = workExpression(problem, shares, model);
    rows.push(rowOf(`asked_${model}`, sumOf([asked, ...carried]), "<=", 0));
    if (replicas.lost !== null) {
      const left = capacityLeft(problem, replicas, model);
      rows.push(rowOf(`left_${model}`, sumOf([scaled(asked, factor), scaled(left, -problem.loadFactor)]), "<=", 0));
    }
    return own;
  });
  return { milp: { name: "mix time", variables, rows }, shares, loads };
}

const over = (own: readonly (number | null)[], coefficient: (candidate: number) => number): Expression => ({
  terms: own.flatMap((variable, at) => (variable === null ? [] : [{ variable, coefficient: coefficient(at) }])),
  constant: 0,
});

function add(
  variables: Variable[],
  { upper = Number.POSITIVE_INFINITY, ...own }: Pick<Variable, "name" | "cost"> & { upper?: number },
): number {
  return variables.push({ lower: 0, upper, integer: false, ...own }) - 1;
}

/** A variable for each candidate that may be chosen and that the models can serve. */
function shareVariables({ classes }: MixProblem, variables: Variable[], chosen: readonly (number | null)[]): MixProgram["shares"] {
  return classes.map(({ candidates }, at) =>
    candidates.map(({ work }, one) => {
      const only = chosen[at] ?? null;
      if ((only !== null && only !== one) || !work.every(Number.isFinite)) return null;
      return add(variables, { name: `share_${at}_${one}`, cost: 0 });
    }),
  );
}

/** One binary for each candidate of a class, of which one is 1. */
function pickOne(
  variables: Variable[],
  rows: Row[],
  { at, own }: { readonly at: number; readonly own: readonly (number | null)[] },
): readonly (readonly [number, number])[] {
  const picked = own.flatMap((variable, one): (readonly [number, number])[] =>
    variable === null ? [] : [[one, variables.push({ name: `pick_${at}_${one}`, lower: 0, upper: 1, cost: 0, integer: true }) - 1]],
  );
  rows.push(rowOf(`one_${at}`, sumOf(picked.map(([, pick]) => variableOf(pick))), "=", 1));
  return picked;
}

/** Work a second of a model at the asked rates, times the factor where the shares have it. */
const workExpression = ({ classes }: MixProblem, shares: MixProgram["shares"], model: number): Expression =>
  sumOf(
    classes.map(({ candidates, requestsPerSecond }, at) =>
      over(shares[at] ?? [], (one) => requestsPerSecond * (candidates[one]?.work[model] ?? 0)),
    ),
  );

/** The capacity of a model's replicas, without those of the node whose loss takes most where one may be lost. */
function capacityLeft({ models }: MixProblem, { counts, lost }: MixReplicas, model: number): Expression {
  const all = (models[model]?.shapes ?? []).map((shape, at) => scaled(counts[model]?.[at] ?? sumOf([]), capacityOf(shape)));
  return sumOf([...all, ...(lost === null ? [] : [scaled(lost[model] ?? sumOf([]), -1)])]);
}
