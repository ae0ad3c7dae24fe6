import { createExplorer } from "../cascade/explore/explore";
import type { Explorer } from "../cascade/explore/explorer";
import { gammaArrivals } from "../engine/gammaArrivals";
import { saturationRate } from "../engine/saturation";
import { gpuCard } from "../hardware/gpus";
import { modelCard } from "../hardware/models";
import { feasibleReplicas, type ShapedReplica } from "../hardware/replicaShapes";
import { mean } from "../numeric/quantile";
import { mixSeed, seededRandom } from "../numeric/random";
import type { ClusterSpec } from "../plan/clusterSpec";
import type { OutcomeTable, Workload } from "../workload/workload";

/** A small planning problem drawn by a seed, for comparing the planner with exhaustive search. */
export interface RandomInstance {
  readonly workload: Workload;
  readonly cluster: ClusterSpec;
  readonly requestsPerSecond: number;
  readonly floor: number;
}

/** Ladders of which instances use a part, smallest first. */
const LADDERS = [
  ["llama-3.2-3b", "llama-3.1-8b", "llama-3.1-70b"],
  ["gemma-2-2b", "gemma-2-9b", "gemma-2-27b"],
  ["qwen2.5-3b", "qwen2.5-7b", "qwen2.5-32b", "qwen2.5-72b"],
];

const GPU = "h100-sxm";
const GPUS_PER_NODE = 4;

/** Step of the scores, so that exhaustive search has a finite grid of thresholds and the planner the same one. */
const SCORE_STEP = 10;

/**
 * Two or three models of one family, 4 to 16 GPUs, random skills, lengths, arrivals, load and floor. A larger model is right more often on
 * the same prompts; the judge sees a noisy reading. Scores and thresholds are multiples of 10.
 */
export function randomInstance(seed: number): RandomInstance {
  const random = seededRandom(mixSeed(seed, "instance"));
  const ladder = LADDERS[random.int(LADDERS.length)] ?? [];
  const models = ladder.slice(random.int(2)).slice(0, 2 + random.int(2));
  const gpus = 4 + 4 * random.int(4);
  const outcomes = randomOutcomes(models, { prompts: 400 + random.int(400), seed });
  const [least = 0, most = 100] = [outcomes.models[0], outcomes.models.at(-1)].map((column) => mean(column?.label ?? []));
  return {
    workload: {
      name: `instance ${seed}`,
      outcomes,
      arrivalSeconds: gammaArrivals({ requests: 1500, requestsPerSecond: 1, shape: 0.4 + random.next(), seed }),
      judge: { kind: "modelled", auc: 0.8, seed },
      origin: { outcomes: "drawn", arrivals: "drawn", generated: true },
      seed,
    },
    cluster: {
      id: "instance",
      name: "instance",
      kind: "described",
      gpu: GPU,
      nodes: Array.from({ length: gpus / GPUS_PER_NODE }, (_, index) => ({ name: `node${index + 1}`, gpus: GPUS_PER_NODE })),
      usdPerGpuHour: 3,
    },
    // Around the largest model's rate: from where it sustains the load easily to where only a cascade does.
    requestsPerSecond: carriedAlone(outcomes, gpus) * (0.4 + random.next()),
    floor: Math.round(10 * (least + (0.3 + 0.5 * random.next()) * (most - least))) / 10,
  };
}

/** Requests per second that the largest model sustains on all GPUs in its smallest shape. */
function carriedAlone({ inputTokens, models }: OutcomeTable, gpus: number): number {
  const largest = models.at(-1);
  const [smallest] = largest === undefined ? [] : shapesOf(largest.model, gpus);
  if (largest === undefined || smallest === undefined) throw new Error(`the largest model of the ladder does not fit ${gpus} GPUs`);
  const work = { inputTokens, outputTokens: largest.outputTokens };
  const { tp, pp } = smallest.shape;
  return ((saturationRate(smallest.replica, work, inputTokens.length) ?? 1) * gpus) / (tp * pp);
}

function shapesOf(model: string, maxGpus: number): readonly ShapedReplica[] {
  const [card, gpu] = [modelCard(model), gpuCard(GPU)];
  if (card === undefined || gpu === undefined) throw new Error(`no card of ${model} or ${GPU}`);
  return feasibleReplicas(card, gpu, { gpusPerNode: GPUS_PER_NODE, maxGpus });
}

/** An explorer of the instance, over all its prompts. */
export function instanceExplorer({ workload, cluster, requestsPerSecond }: RandomInstance): Explorer {
  const { outcomes } = workload;
  const maxGpus = cluster.nodes.reduce((sum, node) => sum + node.gpus, 0);
  const models = outcomes.models.map(({ model }) => model);
  return createExplorer({
    sample: {
      models,
      prompts: outcomes.promptIds.length,
      inputTokens: outcomes.inputTokens,
      outputTokens: outcomes.models.map(({ outputTokens }) => outputTokens),
      label: outcomes.models.map(({ label }) => label),
      judged: outcomes.models.map(({ judged }) => judged),
    },
    shapes: models.map((id) => shapesOf(id, maxGpus)),
    arrivalSeconds: workload.arrivalSeconds,
    requestsPerSecond,
    maxGpus,
    usdPerGpuHour: cluster.usdPerGpuHour,
    judge: { secondsPerCall: 0.27, usdPerCall: 0 },
    quantile: 0.95,
    qualityConfidence: 0.9,
    seed: mixSeed(workload.seed, "planning"),
    cancelled: () => false,
  });
}

function randomOutcomes(models: readonly string[], { prompts, seed }: { readonly prompts: number; readonly seed: number }): OutcomeTable {
  const random = seededRandom(mixSeed(seed, "outcomes"));
  const difficulty = Float64Array.from({ length: prompts }, () => random.next());
  const noise = 12 + 16 * random.next();
  const outputMu = 4.5 + random.next();
  const inputMu = 4 + 2 * random.next();
  const skills = models.map(() => 0.3 + 0.6 * random.next()).sort((a, b) => a - b);
  return {
    promptIds: Array.from({ length: prompts }, (_, prompt) => `p${prompt}`),
    categories: Array.from({ length: prompts }, () => "all"),
    inputTokens: Int32Array.from(difficulty, () => 1 + Math.min(6000, random.lognormal(inputMu, 0.6))),
    models: models.map((model, index) => {
      const label = difficulty.map((hard) => (random.next() < 1 / (1 + Math.exp(8 * (hard - (skills[index] ?? 0.5)))) ? 100 : 0));
      return {
        model,
        tableName: model,
        label,
        judged: label.map((right) => {
          const read = (right > 0 ? 62 : 38) + noise * random.normal();
          return SCORE_STEP * Math.round(Math.min(100, Math.max(0, read)) / SCORE_STEP);
        }),
        outputTokens: Int32Array.from(difficulty, (hard) => 1 + Math.min(4000, random.lognormal(outputMu + 0.7 * hard, 0.4))),
      };
    }),
  };
}
