import type { MilpModel, Row, Term, Variable } from "@/solver/milp/model";
import type { PlacementProblem, Schedule, Session } from "./placement";
import { fewestSessions } from "./placementBound";
import { linearContext } from "./placementContext";

/** Range of seconds for the makespan of a placement: a proven bound, and a maximum above which placements are useless. */
export interface MakespanRange {
  readonly leastSeconds: number;
  readonly mostSeconds: number;
}

/**
 * The ILP of a placement (MOSAIC, equations 4 to 10; SYSTEMS section 5): makespan C first, then z and c of every expert with prompts and
 * every worker.
 *
 * Workers are identical, so any placement has N! equivalents; to break the symmetry the first workers have the larger shares of the
 * heaviest expert. Among the variants tried on six experts and four workers this is proven soonest by both engines; workers in the order of
 * their time took 2 to 10 times as long, and with glpk.js often exceeded any limit. Rows implied by any placement no longer than
 * `range.mostSeconds` (the minimum number of sessions of an expert, its maximum part on one worker) tighten its relaxation. The program is
 * infeasible where no placement is that short.
 */
export function placementModel(problem: PlacementProblem, range: MakespanRange): MilpModel {
  const { experts, workers, sessionsPerWorker } = linearContext(problem);
  const makespan: Variable = { name: "C", lower: range.leastSeconds, upper: range.mostSeconds, cost: 1, integer: false };
  const z = (place: number, worker: number): number => 1 + 2 * (place * workers + worker);
  const c = (place: number, worker: number): number => z(place, worker) + 1;
  const all = Array.from({ length: workers }, (_, worker) => worker);
  const shares = experts.map((expert) => Math.min(expert.prompts, expert.most(range.mostSeconds - expert.loadSeconds)));
  const variables: Variable[] = experts.flatMap((_, place) =>
    all.flatMap((worker) => [
      { name: `z_${place}_${worker}`, lower: 0, upper: 1, cost: 0, integer: true },
      { name: `c_${place}_${worker}`, lower: 0, upper: shares[place] ?? 0, cost: 0, integer: true },
    ]),
  );
  const sum = (name: string, terms: readonly Term[], sense: Row["sense"], bound: number): Row => ({ name, terms, sense, bound });
  const ones = (indices: readonly number[]): Term[] => indices.map((variable) => ({ variable, coefficient: 1 }));
  const rows: Row[] = [];
  for (const worker of all) {
    const busy = experts.flatMap(({ loadSeconds, cost }, place) => [
      { variable: z(place, worker), coefficient: loadSeconds },
      { variable: c(place, worker), coefficient: cost(1) },
    ]);
    const timed = busy.filter(({ coefficient }) => coefficient !== 0);
    rows.push(sum(`busy_${worker}`, [{ variable: 0, coefficient: -1 }, ...timed], "<=", 0));
    rows.push(sum(`models_${worker}`, ones(experts.map((_, place) => z(place, worker))), "<=", sessionsPerWorker));
  }
  for (const [place, expert] of experts.entries()) {
    const on = ones(all.map((worker) => z(place, worker)));
    const needed = fewestSessions(expert, range.mostSeconds);
    rows.push(sum(`all_${place}`, ones(all.map((worker) => c(place, worker))), "=", expert.prompts));
    rows.push(sum(`least_${place}`, on, ">=", Number.isFinite(needed) ? needed : 1));
    rows.push(sum(`cap_${place}`, on, "<=", expert.cap));
    for (const worker of all)
      rows.push(
        sum(
          `loaded_${place}_${worker}`,
          [
            { variable: c(place, worker), coefficient: 1 },
            { variable: z(place, worker), coefficient: -(shares[place] ?? 0) },
          ],
          "<=",
          0,
        ),
      );
  }
  return { name: "placement", variables: [makespan, ...variables], rows: [...rows, ...symmetryRows()] };

  /** The heaviest expert on the first workers, falling shares. */
  function symmetryRows(): Row[] {
    const heaviest = experts.reduce(
      (best, expert, place) => (expert.cost(expert.prompts) > (experts[best]?.cost(experts[best].prompts) ?? 0) ? place : best),
      0,
    );
    return all.slice(1).map((worker) =>
      sum(
        `order_${worker}`,
        [
          { variable: c(heaviest, worker - 1), coefficient: 1 },
          { variable: c(heaviest, worker), coefficient: -1 },
        ],
        ">=",
        0,
      ),
    );
  }
}

/** The schedule of a point of the problem's model. Sessions without prompts are left out. */
export function readPlacement(problem: PlacementProblem, x: ArrayLike<number>): Schedule {
  const { experts, workers } = linearContext(problem);
  const lines = Array.from({ length: workers }, (_, worker) =>
    experts.flatMap(({ expert }, place): Session[] => {
      const prompts = x[2 + 2 * (place * workers + worker)] ?? 0;
      return prompts > 0 ? [{ expert, prompts }] : [];
    }),
  );
  return { workers: lines, barrier: false };
}
