import { gpuCard } from "@/solver/hardware/gpus";
import { modelCard } from "@/solver/hardware/models";
import { feasibleReplicas } from "@/solver/hardware/replicaShapes";
import { createExplorer } from "../explore/explore";
import type { Explorer } from "../explore/explorer";
import type { DeployedRouting } from "../plan/thresholdSettings";
import { lateBursts, testSample } from "./testSample";

const MAX_GPUS = 16;
const REQUESTS_PER_SECOND = 30;

interface Example {
  /** Model cards, smallest first, with the skill of each. */
  readonly models: readonly string[];
  readonly skills: readonly number[];
  readonly thresholds: readonly number[];
  /** GPUs per stage: replicas on one GPU each where there are at most 4, else on 4. */
  readonly gpus: readonly number[];
}

/** A cascade of all models on given GPUs, for tests of what its thresholds do there. */
export function deployedExample({ models, skills, thresholds, gpus }: Example): {
  readonly explorer: Explorer;
  readonly routing: number;
  readonly deployment: DeployedRouting["deployment"];
} {
  const gpu = gpuCard("h100-sxm");
  const explorer = createExplorer({
    sample: { ...testSample({ prompts: 500, skills, seed: 8 }), models },
    shapes: models.map((id) => {
      const card = modelCard(id);
      return card === undefined || gpu === undefined ? [] : feasibleReplicas(card, gpu, { gpusPerNode: 8, maxGpus: MAX_GPUS });
    }),
    arrivalSeconds: lateBursts(4000, 3),
    requestsPerSecond: REQUESTS_PER_SECOND,
    maxGpus: MAX_GPUS,
    usdPerGpuHour: 3,
    judge: { secondsPerCall: 0.25, usdPerCall: 0 },
    quantile: 0.95,
    qualityConfidence: 0.9,
    seed: 2,
    cancelled: () => false,
  });
  const stages = models.map((_, stage) => stage);
  const routing = explorer.add(stages, thresholds);
  const { routed } = explorer.routing(routing);
  const mixes = explorer.mixes(explorer.routing(routing));
  const deployment = gpus.map((own, stage) => {
    const mix = mixes[stage];
    if (mix === undefined) throw new Error(`no stage ${stage}`);
    const { shapes } = explorer.tables.near(stage, mix).tables.capacity;
    const size = own <= 4 ? 1 : 4;
    const one = shapes.find((candidate) => candidate.gpus === size);
    if (one === undefined) throw new Error(`${models[stage]} has no replica on ${size} GPUs`);
    const count = own / size;
    const requestsPerSecond = (REQUESTS_PER_SECOND * (routed.share[stage] ?? 0)) / count;
    return {
      replicas: [{ gpu: "h100-sxm", shape: one.shape, count, requestsPerSecond }],
      saturationRequestsPerSecond: count * one.curve.saturationRequestsPerSecond,
    };
  });
  return { explorer, routing, deployment };
}
