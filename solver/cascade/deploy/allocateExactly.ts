import { type AllocationProblem, allocationModel, readAllocation } from "@/solver/milp/allocation";
import { minMaxAllocation } from "@/solver/milp/bisection";
import { type MilpEngine, sameOptimum } from "@/solver/milp/engine";
import { weightedAllocation } from "@/solver/milp/weightedAllocation";
import type { Objective, SolverReport } from "@/solver/plan/plan";
import type { Explorer } from "../explore/explorer";
import { latencyByGpus, latencyOfHosted } from "../tables/capacityTable";
import { STARVATION_LIMIT } from "../tables/endToEnd";
import { hostedUses, isCarried } from "../tables/hostedStages";
import type { MixTables } from "../tables/latencyTables";

/** A routing with tables simulated for exactly its own requests. */
export interface RoutingTables {
  readonly explorer: Explorer;
  readonly routing: number;
  /** Per row of the explorer's. */
  readonly tables: readonly MixTables[];
}

export interface Allocated {
  /** GPUs per stage. */
  readonly gpus: readonly number[];
  readonly stageSeconds: readonly number[];
  /** Objective latency by the tables. */
  readonly tableSeconds: number;
  /** The same as a problem for the MILP, with its optimum found exactly. */
  readonly problem: AllocationProblem;
  readonly optimumSeconds: number;
}

/** The plan's solver report on the allocation. */
export type AllocationProof = Pick<SolverReport, "status" | "gap" | "engine">;

/** Time limit of the MILP. The exact allocation already gives its optimum, so a timeout only loses the proof by a second solver. */
const MILP_LIMITS = { timeLimitSeconds: 5, relativeGap: 0 };

/**
 * The best allocation of GPUs to the stages of one routing on its own tables; null when they do not sustain the load. A hosted stage takes one
 * "GPU" of the tables, which is there for it alone.
 */
export function allocateExactly(
  { explorer, routing, tables }: RoutingTables,
  { gpus: own, latency }: { readonly gpus: number; readonly latency: Objective["latency"] },
): Allocated | null {
  const cascade = explorer.routing(routing);
  const rows = explorer.rows(cascade);
  const uses = hostedUses(explorer.input, cascade);
  if (!uses.every(isCarried)) return null;
  const gpus = own + uses.length;
  const seconds = tables.map(({ capacity }, row) => {
    const table = new Float64Array(gpus);
    const fill = uses.some(({ stage }) => stage === row) ? latencyOfHosted : latencyByGpus;
    fill(capacity, rows[row]?.requestsPerSecond ?? 0, table);
    return table;
  });
  const even = minMaxAllocation(seconds, gpus);
  if (even === null) return null;
  const at = (given: readonly number[]) => seconds.map((table, stage) => table[(given[stage] ?? 1) - 1] ?? Number.POSITIVE_INFINITY);
  const { weights } = explorer.compose(cascade, at(even.gpus), tables);
  const weighted = { weights, stageLimitSeconds: STARVATION_LIMIT * even.latencySeconds };
  const endToEnd = latency === "end-to-end";
  // The even allocation is within the limit, so a weighted one exists.
  const exact = endToEnd ? (weightedAllocation(seconds, gpus, weighted) ?? even) : even;
  const stageSeconds = at(exact.gpus);
  return {
    gpus: exact.gpus,
    stageSeconds,
    tableSeconds: endToEnd ? explorer.compose(cascade, stageSeconds, tables).seconds : exact.latencySeconds,
    problem: { tables: seconds, gpus, objective: endToEnd ? { kind: "weighted-sum", ...weighted } : { kind: "largest-stage" } },
    optimumSeconds: exact.latencySeconds,
  };
}

/** Solves the allocation as a MILP and compares it with the exact optimum. @throws when the two disagree. */
export function confirm(engine: MilpEngine, { problem, optimumSeconds }: Pick<Allocated, "problem" | "optimumSeconds">): AllocationProof {
  const model = allocationModel(problem);
  const result = engine.solve(model, MILP_LIMITS);
  if (result.status === "feasible" || result.status === "undecided") {
    const bound = result.status === "feasible" ? result.bound : undefined;
    return {
      status: "feasible",
      gap: bound === undefined ? null : Math.max(0, (optimumSeconds - bound) / optimumSeconds),
      engine: `exact allocation; ${engine.name} ran out of time`,
    };
  }
  // Evaluated on the tables: the MILP objective has an error up to the solver's row tolerance.
  if (result.status === "infeasible" || !sameOptimum(readAllocation(problem, result.x).latencySeconds, optimumSeconds)) {
    throw new Error(`${engine.name} (${JSON.stringify(result)}) and the exact allocation (${optimumSeconds} s) disagree`);
  }
  return { status: "optimal", gap: result.gap ?? 0, engine: `${engine.name}, equal to the exact allocation` };
}
