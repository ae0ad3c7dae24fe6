import type { Explorer } from "@/solver/cascade/explore/explorer";
import type { CapacityTable } from "@/solver/cascade/tables/capacityTable";
import type { LatencyTables } from "@/solver/cascade/tables/latencyTables";
import { isCalibrated } from "@/solver/gates/gateDocument";
import { mean } from "@/solver/numeric/quantile";
import type { LadderCosts } from "./gainSettings";

/**
 * The GPU-seconds of an explorer's models and of their gates. A score of confidence or a scorer takes none. Samples take as many requests of the
 * model itself, a peer one request of its own. A judge takes the GPU-seconds of its engine; outside of the deployment those that cost as
 * much as its call; in a sequence only for the share of answers that it is asked about.
 */
export function ladderCosts(explorer: Explorer): LadderCosts {
  const { input } = explorer;
  const { models } = input.sample;
  const gpuSeconds = models.map((_, model) => gpuSecondsOf(explorer, model));
  return {
    gpuSeconds,
    gates: models.map((name, model) => {
      const stage = input.gates?.stages.get(name);
      const judged = input.sample.asksJudge?.[model];
      const judgedShare = judged === undefined ? 1 : mean(judged);
      const judging = judgedShare === 0 ? 0 : judgedShare * judgementSeconds(explorer, model);
      const further = (stage?.samples ?? 0) * (gpuSeconds[model] ?? 0) + peerSeconds(explorer, model);
      const isFittedAsItIs = stage === undefined || (stage.document.kind === "judge" && !isCalibrated(stage.document));
      return { ...(isFittedAsItIs ? {} : { kind: stage.document.kind }), gpuSeconds: judging + further };
    }),
  };
}

/** Of a request of the model; Infinity where it cannot be served. */
function gpuSecondsOf({ tables, input }: Explorer, model: number): number {
  if ((input.shapes[model]?.length ?? 0) === 0) return Number.POSITIVE_INFINITY;
  return perRequest(tables, { model, from: 0, prompts: input.sample.prompts, share: 1 });
}

/** Of a judgement of the model's answer. */
function judgementSeconds({ input, gateTables }: Explorer, model: number): number {
  const { judge, usdPerGpuHour, sample } = input;
  const answers = Math.max(1, sample.models.length - 1);
  if (gateTables.judge === null) return usdPerGpuHour > 0 ? (3600 * judge.usdPerCall) / usdPerGpuHour : 0;
  // The last model's answers are not judged.
  return model >= answers
    ? 0
    : perRequest(gateTables.judge, { model: 0, from: model * sample.prompts, prompts: sample.prompts, share: 1 / answers });
}

/** Of the answers of other models that the model's gate compares with. */
function peerSeconds({ input, gateTables }: Explorer, model: number): number {
  const { prompts } = input.sample;
  return (input.gates?.peers ?? []).reduce((sum, { askedBy }, peer) => {
    const tables = gateTables.peers[peer];
    const at = askedBy.indexOf(model);
    return tables === undefined || at < 0
      ? sum
      : sum + perRequest(tables, { model: 0, from: at * prompts, prompts, share: 1 / askedBy.length });
  }, 0);
}

interface Requests {
  readonly model: number;
  /** The first of so many prompts of the tables. */
  readonly from: number;
  readonly prompts: number;
  /** Of all requests of the tables. */
  readonly share: number;
}

/** GPU-seconds of a request on the replicas that serve the most requests for each GPU, at full load. */
function perRequest(tables: LatencyTables, { model, from, prompts, share }: Requests): number {
  const mix = { prompts: Int32Array.from({ length: prompts }, (_, prompt) => from + prompt), share };
  const { tables: near, lengthFactor } = tables.near(model, mix);
  return lengthFactor * Math.min(...near.capacity.shapes.map(ofShape));
}

const ofShape = ({ shape, curve }: CapacityTable["shapes"][number]): number => (shape.tp * shape.pp) / curve.saturationRequestsPerSecond;
