import { type BaselineSituation, placed } from "./situation";
import type { Baseline } from "./system";
import { tunedStage } from "./tuning";

/**
 * One model alone on all GPUs, its replicas tuned on the planner's own tables (Cascadia, section 4.1: "we tune the parallelism
 * strategy using our MILP algorithm for each of the stand-alone models"). No judge.
 *
 * @param model index in the explorer's sample.
 */
export function standAlone({ explorer, floor, nodes }: BaselineSituation, model: number): Baseline {
  const { sample, requestsPerSecond, maxGpus, shapes } = explorer.input;
  const id = sample.models[model] ?? "";
  const name = `stand-alone ${id}`;
  const none = (reason: string): Baseline => ({ outcome: "none", name, reason });
  if ((shapes[model]?.length ?? 0) === 0) return none(`No replica of ${id} fits the GPUs.`);
  const { qualityLow, routed } = explorer.outlook([model], []);
  if (qualityLow < floor) return none(`Does not reach a floor of ${floor}: its lower bound of quality is ${qualityLow.toFixed(1)}.`);
  const [everything] = explorer.mixes({ stages: [model], routed });
  const stage =
    everything === undefined ? null : tunedStage(id, explorer.tables.exact(model, everything), { requestsPerSecond, gpus: maxGpus });
  if (stage === null) return none(`No replica of ${id} serves these requests.`);
  return placed({ name, stages: [stage], routing: { kind: "cascade", thresholds: [] } }, nodes);
}
