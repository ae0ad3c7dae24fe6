import type { Explorer } from "../cascade/explore/explorer";
import { product, usefulThresholds } from "../cascade/routing/routingGrid";
import type { MixTables } from "../cascade/tables/latencyTables";
import { createRowTables } from "../cascade/tables/rowTables";
import { minMaxAllocation } from "../milp/bisection";
import { mean } from "../numeric/quantile";
import { evenly } from "./cascades";
import { type BaselineSituation, gatedCascade, placed } from "./situation";
import type { Baseline } from "./system";
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

/** Engines of a gear, with tables in which every request is alike. */
interface AlikeRow {
  readonly model: string;
  tables(): MixTables;
  /** Calls for each request, on average. */
  readonly calls: number;
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
 * as equal: every prompt and every answer of every model has the sample's mean length, in profiling and in planning. Where the plan's gates ask
 * for further answers, so do those of its cascades: samples are calls of the stage's engines, peers have engines of their own.
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
  const name = profiled === undefined ? "CascadeServe" : COMPLEXITY_BLIND;
  const rowsOf = alikeRows(known);
  const nominal = { floor, rowsOf };
  const gears = explorer.cascades.flatMap((stages) => {
    const gear = offlineGear(known, stages, nominal);
    const keeps = gear !== null && (known === explorer || explorer.outlook(stages, gear.thresholds).qualityLow >= floor);
    return (keeps ? gear : offlineGear(explorer, stages, nominal)) ?? [];
  });
  if (gears.length === 0) return { outcome: "none", name, reason: `No cascade with fixed thresholds reaches a floor of ${floor}.` };
  const chosen = atSustainedRate(requestsPerSecond, (rate) => {
    const deployable = gears.flatMap((gear) => {
      const rows = rowsOf(gear);
      const seconds = stageSeconds(
        rows.map((row) => row.tables()),
        rows.map(({ calls }) => ({ share: calls })),
        { requestsPerSecond: rate, gpus: maxGpus },
      );
      const allocation = minMaxAllocation(seconds, maxGpus);
      return allocation === null ? [] : [{ gear, rows, rate, ...allocation }];
    });
    return deployable.sort((a, b) => a.latencySeconds - b.latencySeconds)[0] ?? null;
  });
  if (chosen === null) return { outcome: "none", name, reason: `No cascade sustains ${requestsPerSecond} requests/s.` };
  const { gear, rows, gpus, rate } = chosen;
  const deployed = rows.flatMap(
    ({ model, tables, calls }, row) => tunedStage(model, tables(), { requestsPerSecond: rate * calls, gpus: gpus[row] ?? 0 }) ?? [],
  );
  return placed({ name, ...gatedCascade(explorer, gear, deployed) }, nodes);
}

const everyPrompt = (prompts: number): Int32Array => Int32Array.from({ length: prompts }, (_, prompt) => prompt);

/**
 * The engines of a gear, its stages and, after them, a judge's own and the peers of their gates, on tables in which every request is the sample's
 * mean request.
 */
function alikeRows({ input }: Explorer): (gear: Gear) => readonly AlikeRow[] {
  const { sample, gates } = input;
  const prompt = Math.round(mean(sample.inputTokens));
  const answer = Math.round(mean(sample.outputTokens.map((tokens) => mean(tokens))));
  const alike = (tokens: Int32Array): Int32Array => tokens.map(() => answer);
  const { tables, judging, peers } = createRowTables({
    ...input,
    sample: { ...sample, inputTokens: sample.inputTokens.map(() => prompt), outputTokens: sample.outputTokens.map(alike) },
    ...(gates === undefined
      ? {}
      : { gates: { ...gates, peers: gates.peers.map((peer) => ({ ...peer, outputTokens: alike(peer.outputTokens) })) } }),
  });
  const prompts = everyPrompt(sample.prompts);
  // Share of each model's answers that its gate asks the judge about.
  const asked = sample.models.map((_, model) => {
    const asks = sample.asksJudge?.[model];
    return asks === undefined ? 1 : mean(asks);
  });
  return ({ stages, thresholds, share }) => {
    const isScored = (stage: number): boolean => (thresholds[stage] ?? 0) > 0;
    const own = stages.map((model, stage) => ({
      model: sample.models[model] ?? "",
      tables: () => tables.near(model, { prompts, share: share[stage] ?? 0 }).tables,
      calls: (share[stage] ?? 0) * (1 + (isScored(stage) ? (gates?.samples[model] ?? 0) : 0)),
    }));
    const beside = peers.flatMap(({ engine: { model, askedBy }, tables: peer }): readonly AlikeRow[] => {
      const asking = stages.map((_, stage) => stage).filter((stage) => isScored(stage) && askedBy.includes(stages[stage] ?? -1));
      if (asking.length === 0) return [];
      const calls = asking.reduce((sum, stage) => sum + (share[stage] ?? 0), 0);
      return [{ model, tables: () => peer.near(0, { prompts, share: calls / askedBy.length }).tables, calls }];
    });
    const judgements = stages.reduce((sum, model, stage) => sum + (isScored(stage) ? (share[stage] ?? 0) * (asked[model] ?? 1) : 0), 0);
    const judge =
      judging === null || input.judgeEngine === undefined || judgements === 0
        ? []
        : [
            {
              model: input.judgeEngine.model,
              tables: () => judging.tables.near(0, { prompts, share: judgements / Math.max(1, sample.models.length - 1) }).tables,
              calls: judgements,
            },
          ];
    return [...own, ...judge, ...beside];
  };
}

/** The thresholds of a cascade that meet the floor at the least GPU time a request, at the nominal length; null where none do. */
function offlineGear(
  explorer: Explorer,
  stages: readonly number[],
  { floor, rowsOf }: { readonly floor: number; readonly rowsOf: (gear: Gear) => readonly AlikeRow[] },
): Gear | null {
  const { sample } = explorer.input;
  const perStage = Math.max(2, Math.floor(OFFLINE_POINTS ** (1 / Math.max(1, stages.length - 1))));
  // What a call of each takes does not depend on how many there are.
  const full = { stages, share: stages.map(() => 1) };
  const secondsOf = new Map(
    rowsOf({ ...full, thresholds: stages.slice(1).map(() => 1) }).map((row) => [row.model, gpuSecondsPerCall(row)]),
  );
  const choices = stages.slice(0, -1).map((model) => evenly(usefulThresholds(sample.judged[model] ?? new Float64Array()), perStage));
  let cheapest: { readonly gear: Gear; readonly cost: number } | null = null;
  for (const thresholds of product(choices)) {
    const { routed, qualityLow } = explorer.outlook(stages, thresholds);
    if (qualityLow < floor || routed.share.includes(0)) continue;
    const gear = { stages, thresholds, share: routed.share };
    const cost = rowsOf(gear).reduce((sum, { model, calls }) => sum + calls * (secondsOf.get(model) ?? 0), 0);
    if (cost < (cheapest?.cost ?? Number.POSITIVE_INFINITY)) cheapest = { gear, cost };
  }
  return cheapest?.gear ?? null;
}

/** GPU time of one nominal request on the model's most efficient replica at saturation. */
const gpuSecondsPerCall = ({ tables }: AlikeRow): number =>
  Math.min(...tables().capacity.shapes.map(({ gpus, curve }) => gpus / curve.saturationRequestsPerSecond));
