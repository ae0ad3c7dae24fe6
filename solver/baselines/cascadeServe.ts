import type { Explorer } from "../cascade/explore/explorer";
import { product, usefulThresholds } from "../cascade/routing/routingGrid";
import { createLatencyTables, type LatencyTables } from "../cascade/tables/latencyTables";
import { minMaxAllocation } from "../milp/bisection";
import { mean } from "../numeric/quantile";
import { cascadesOf, evenly } from "./cascades";
import { type BaselineSituation, placed } from "./situation";
import type { Baseline, SystemStage } from "./system";
import { atSustainedRate, stageSeconds, tunedStage } from "./tuning";

/** Approximate number of threshold vectors tried per cascade: offline, so as fine as the sample supports. */
const OFFLINE_POINTS = 400;

/** A cascade with the thresholds fixed for it offline. */
interface Gear {
  readonly stages: readonly number[];
  readonly thresholds: readonly number[];
  /** Of the requests it expects, by stage. */
  readonly share: readonly number[];
}

/** The name of a cascade that knows nothing of how difficult the traffic is. */
export const COMPLEXITY_BLIND = "CascadeServe, complexity-blind";

/**
 * A cascade planned by load alone, as the source describes CascadeServe (Cascadia, sections 2 and 4.1): it "chooses model cascade
 * deployment plan based on system load (e.g., request arrival rate), enables model replication on hardware and adaptively dispatches
 * incoming requests", with parallelism tuned, and "overlooks input/output lengths and request complexity".
 *
 * Modelled: offline, each cascade of the ladder gets the thresholds that meet the floor at the least GPU time; online, the load
 * picks the cascade and its GPUs: least largest-stage p95, with replicas tuned and least-load dispatch. It treats all requests
 * as equal: every prompt and every answer of every model has the sample's mean length, in profiling and in planning.
 *
 * Assumed, since the source gives no more: it knows the mean share that each threshold escalates and uses the same bound for the floor
 * as the planner (all systems have the same floor); it has the planner's simulator and search over replica shapes; it plans for
 * the mean rate of the traffic and keeps that plan, as every other system here does. Its batching knobs are left out:
 * continuous batching has none of them. CascadeServe's own code is not used.
 *
 * @param profiled an explorer at the same rate over the prompts it was profiled on. Left out: the traffic's own planning prompts, so that
 * thresholds and shares fit how difficult the traffic is: stronger than the source's. Given, it is blind to that, as the source's is:
 * thresholds, expected shares and lengths are those of the profile. Where such thresholds miss the floor on the traffic, an operator is assumed to
 * set those that keep it, so that all systems keep one floor.
 */
export function cascadeServe(situation: BaselineSituation, profiled?: Explorer): Baseline {
  const { explorer, floor, nodes } = situation;
  const { requestsPerSecond, maxGpus } = explorer.input;
  const known = profiled ?? explorer;
  const { sample } = known.input;
  const name = profiled === undefined ? "CascadeServe" : COMPLEXITY_BLIND;
  const tables = lengthBlindTables(known);
  const nominal = { floor, tables, prompts: sample.prompts };
  const gears = cascadesOf(explorer.input, 1).flatMap((stages) => {
    const gear = offlineGear(known, stages, nominal);
    const keeps = gear !== null && (known === explorer || explorer.outlook(stages, gear.thresholds).qualityLow >= floor);
    return (keeps ? gear : offlineGear(explorer, stages, nominal)) ?? [];
  });
  if (gears.length === 0) return { outcome: "none", name, reason: `No cascade with fixed thresholds reaches a floor of ${floor}.` };
  const chosen = atSustainedRate(requestsPerSecond, (rate) => {
    const deployable = gears.flatMap((gear) => {
      const mixes = gear.share.map((share) => ({ prompts: everyPrompt(sample.prompts), share }));
      const own = mixes.map((mix, stage) => tables.near(gear.stages[stage] ?? 0, mix).tables);
      const seconds = stageSeconds(own, mixes, { requestsPerSecond: rate, gpus: maxGpus });
      const allocation = minMaxAllocation(seconds, maxGpus);
      return allocation === null ? [] : [{ gear, own, rate, ...allocation }];
    });
    return deployable.sort((a, b) => a.latencySeconds - b.latencySeconds)[0] ?? null;
  });
  if (chosen === null) return { outcome: "none", name, reason: `No cascade sustains ${requestsPerSecond} requests/s.` };
  const { gear, own, gpus, rate } = chosen;
  const stages = gear.stages.flatMap((model, stage): readonly SystemStage[] => {
    const table = own[stage];
    const id = sample.models[model] ?? "";
    const stageRate = rate * (gear.share[stage] ?? 0);
    return table === undefined ? [] : [tunedStage(id, table, { requestsPerSecond: stageRate, gpus: gpus[stage] ?? 0 }) ?? []].flat();
  });
  return placed({ name, stages, routing: { kind: "cascade", thresholds: gear.thresholds } }, nodes);
}

const everyPrompt = (prompts: number): Int32Array => Int32Array.from({ length: prompts }, (_, prompt) => prompt);

/** Latency tables in which every request is the sample's mean request. */
function lengthBlindTables(explorer: Explorer): LatencyTables {
  const { sample } = explorer.input;
  const input = Math.round(mean(sample.inputTokens));
  const output = Math.round(mean(sample.outputTokens.map((tokens) => mean(tokens))));
  return createLatencyTables({
    ...explorer.input,
    sample: {
      ...sample,
      inputTokens: sample.inputTokens.map(() => input),
      outputTokens: sample.outputTokens.map((tokens) => tokens.map(() => output)),
    },
  });
}

/** The thresholds of a cascade that meet the floor at the least GPU time a request, at the nominal length; null where none do. */
function offlineGear(
  explorer: Explorer,
  stages: readonly number[],
  { floor, tables, prompts }: { readonly floor: number; readonly tables: LatencyTables; readonly prompts: number },
): Gear | null {
  const { sample } = explorer.input;
  const perStage = Math.max(2, Math.floor(OFFLINE_POINTS ** (1 / Math.max(1, stages.length - 1))));
  const work = stages.map((model) => gpuSecondsPerRequest(tables, { model, prompts }));
  const choices = stages.slice(0, -1).map((model) => evenly(usefulThresholds(sample.judged[model] ?? new Float64Array()), perStage));
  let cheapest: { readonly gear: Gear; readonly cost: number } | null = null;
  for (const thresholds of product(choices)) {
    const { routed, qualityLow } = explorer.outlook(stages, thresholds);
    if (qualityLow < floor || routed.share.includes(0)) continue;
    const cost = routed.share.reduce((sum, share, stage) => sum + share * (work[stage] ?? 0), 0);
    if (cost < (cheapest?.cost ?? Number.POSITIVE_INFINITY)) cheapest = { gear: { stages, thresholds, share: routed.share }, cost };
  }
  return cheapest?.gear ?? null;
}

/** GPU time of one nominal request on the model's most efficient replica at saturation. */
function gpuSecondsPerRequest(tables: LatencyTables, { model, prompts }: { readonly model: number; readonly prompts: number }): number {
  const { capacity } = tables.near(model, { prompts: everyPrompt(prompts), share: 1 }).tables;
  return Math.min(...capacity.shapes.map(({ gpus, curve }) => gpus / curve.saturationRequestsPerSecond));
}
