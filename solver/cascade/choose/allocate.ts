import { minMaxAllocation } from "@/solver/milp/bisection";
import { weightedAllocation } from "@/solver/milp/weightedAllocation";
import { judgesAny } from "@/solver/plan/policySchema";
import type { Candidate, Exploration, Knobs } from "../explore/exploration";
import { judgementsOf } from "../routing/routing";
import { STARVATION_LIMIT } from "../tables/endToEnd";

/** Rows of tables that a routing has: one per stage, one of the judge where it is an engine and the routing judges, and those of peers. */
function rowsOf({ routings, judge }: Exploration, routing: number): number {
  const { stages = [], thresholds = [], rows } = routings[routing] ?? {};
  if (rows !== undefined) return rows;
  return stages.length + (judge.engine !== undefined && judgesAny(thresholds) ? 1 : 0);
}

/** Seconds by GPU count (index f - 1) for each stage of a routing, and for the judge's engine after them. */
export function stageTables(exploration: Exploration, routing: number): readonly Float32Array[] {
  const { maxGpus, stageP95, tableOffset } = exploration;
  const offset = tableOffset[routing] ?? 0;
  return Array.from({ length: rowsOf(exploration, routing) }, (_, row) =>
    stageP95.subarray(offset + row * maxGpus, offset + (row + 1) * maxGpus),
  );
}

/** The weights of a routing's end-to-end latency, one per stage. */
function endToEndWeights(exploration: Exploration, routing: number): Float32Array {
  const first = (exploration.tableOffset[routing] ?? 0) / exploration.maxGpus;
  return exploration.endToEndWeight.subarray(first, first + rowsOf(exploration, routing));
}

/** The best allocation of one routing; infinite latency and no GPUs where it cannot sustain its load. */
export function allocate(
  exploration: Exploration,
  routing: number,
  { gpus: own, latency }: { readonly gpus: number; readonly latency: Knobs["latency"] },
): Candidate {
  const tables = stageTables(exploration, routing);
  const { quality = 0, qualityLow = 0, share = [], thresholds = [], judgements, hosted } = exploration.routings[routing] ?? {};
  const { stages: hostedStages = [], usdPerRequest = 0 } = hosted ?? {};
  // Each hosted stage takes one "GPU" of the tables, which is there for it alone.
  const gpus = own + hostedStages.length;
  const even = minMaxAllocation(tables, gpus);
  if (even === null) {
    const none = tables.map(() => 0);
    const infinite = Number.POSITIVE_INFINITY;
    return { routing, gpus: none, gpusTotal: 0, latencySeconds: infinite, costUsdPerRequest: infinite, quality, qualityLow };
  }
  const weights = endToEndWeights(exploration, routing);
  const stageLimitSeconds = STARVATION_LIMIT * even.latencySeconds;
  const found = latency === "largest-stage" ? even : (weightedAllocation(tables, gpus, { weights, stageLimitSeconds }) ?? even);
  const taken = found.gpus.map((count, row) => (hostedStages.includes(row) ? 0 : count));
  const gpusTotal = taken.reduce((sum, f) => sum + f, 0);
  const judged = latency === "largest-stage" ? 0 : (exploration.endToEndJudgeSeconds[routing] ?? 0);
  return {
    routing,
    gpus: taken,
    gpusTotal,
    latencySeconds: found.latencySeconds + judged,
    costUsdPerRequest:
      costUsdPerRequest({ ...exploration, gpus: gpusTotal, judgements: judgementsOf({ share, judgements }, thresholds) }) + usdPerRequest,
    quality,
    qualityLow,
  };
}

/** GPU cost per hour divided by the requests served, plus the judge calls of a request. */
export function costUsdPerRequest(of: {
  readonly gpus: number;
  readonly usdPerGpuHour: number;
  readonly requestsPerSecond: number;
  /** Judge calls for each request, on average. */
  readonly judgements: number;
  readonly judge: { readonly usdPerCall: number };
}): number {
  return (of.gpus * of.usdPerGpuHour) / 3600 / of.requestsPerSecond + of.judgements * of.judge.usdPerCall;
}
