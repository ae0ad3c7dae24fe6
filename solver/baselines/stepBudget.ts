import { createLatencyTables } from "../cascade/tables/latencyTables";
import { type EngineLimits, withLimits } from "../hardware/engineLimits";
import { type BaselineSituation, placed } from "./situation";
import type { Baseline } from "./system";
import { stageSeconds, tunedStage } from "./tuning";

/** Tokens of one step that are tried: from where decoding hardly waits for prefill to where a prompt is seldom divided. */
const STEP_BUDGETS = [512, 1024, 2048, 4096, 8192, 16_384] as const;

/**
 * One model alone with its step budget tuned, as Sarathi-Serve serves it (Cascadia, appendix F: "tuned the chunk size to be optimal for
 * each case"): chunked prefill shares each step with the decodes, and the budget is that with the least p95 by the tables at this rate. Replicas
 * are tuned for it as for a stand-alone model. Where no budget sustains the rate, the one with the most capacity.
 *
 * @param model index in the explorer's sample.
 */
export function tunedStepBudget({ explorer, floor, nodes }: BaselineSituation, model: number): Baseline {
  const { sample, requestsPerSecond, maxGpus, shapes } = explorer.input;
  const id = sample.models[model] ?? "";
  const name = `Sarathi-Serve ${id}`;
  const none = (reason: string): Baseline => ({ outcome: "none", name, reason });
  if ((shapes[model]?.length ?? 0) === 0) return none(`No replica of ${id} fits the GPUs.`);
  const { qualityLow, routed } = explorer.outlook([model], []);
  if (qualityLow < floor) return none(`Does not reach a floor of ${floor}: its lower bound of quality is ${qualityLow.toFixed(1)}.`);
  const [everything] = explorer.mixes({ stages: [model], routed });
  if (everything === undefined) return none(`No requests reach ${id}.`);
  const tried = STEP_BUDGETS.flatMap((maxBatchedTokens) => {
    const limits: EngineLimits = { maxBatchedTokens };
    const limited = shapes.map((own, at) =>
      at === model ? own.map((one) => ({ ...one, replica: withLimits(one.replica, limits) })) : own,
    );
    const tables = createLatencyTables({ ...explorer.input, shapes: limited }).exact(model, everything);
    const stage = tunedStage(id, tables, { requestsPerSecond, gpus: maxGpus });
    if (stage === null) return [];
    const [seconds] = stageSeconds([tables], [everything], { requestsPerSecond, gpus: maxGpus });
    const perGpu = Math.max(...tables.capacity.shapes.map(({ gpus, curve }) => curve.saturationRequestsPerSecond / gpus));
    return [{ stage: { ...stage, limits }, seconds: seconds?.at(-1) ?? Number.POSITIVE_INFINITY, perGpu }];
  });
  const [best] = tried.sort((a, b) => (a.seconds === b.seconds ? b.perGpu - a.perGpu : a.seconds - b.seconds));
  if (best === undefined) return none(`No replica of ${id} serves these requests.`);
  return placed({ name, stages: [best.stage], routing: { kind: "cascade", thresholds: [] } }, nodes);
}
