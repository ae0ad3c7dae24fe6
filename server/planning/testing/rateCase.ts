import fc from "fast-check";
import { gammaArrivals } from "@/solver/engine/gammaArrivals";
import { saturationRate } from "@/solver/engine/saturation";
import { vllmProfile } from "@/solver/hardware/builtInProfiles";
import type { UserCards, UserGpu, UserModel } from "@/solver/hardware/cardSchema";
import { cardOf, catalogueOf } from "@/solver/hardware/catalogue";
import type { KernelProfile } from "@/solver/hardware/engineProfile";
import { feasibleReplicas } from "@/solver/hardware/replicaShapes";
import { seededRandom } from "@/solver/numeric/random";
import type { ClusterSpec } from "@/solver/plan/clusterSpec";
import { noConstraints, type PlanConstraints } from "@/solver/plan/constraints";
import type { Objective } from "@/solver/plan/plan";
import type { Workload } from "@/solver/workload/workload";

/** A planning problem at several rates: a workload, hardware and an objective. */
export interface RateCase {
  readonly workload: Workload;
  readonly cluster: ClusterSpec;
  readonly userCards: UserCards;
  readonly engineProfile: KernelProfile;
  readonly constraints: PlanConstraints;
  readonly kind: Objective["kind"];
  /** Quality floor as a share of the way from the smallest model's mean label to the largest's, 0..1. */
  readonly floorShare: number;
  /** Latency budget as a multiple of the p95 of the fastest plan at the lowest rate. */
  readonly budgetFactor: number;
  readonly judgeSeconds: number;
  /** Requests per second, ascending. The first `lightRates` are below 5 % of what the smallest replica of any model carries at saturation. */
  readonly rates: readonly number[];
  readonly lightRates: number;
}

/** Ladders of the catalogue, smallest first. */
const LADDERS = [
  ["qwen2.5-0.5b", "qwen2.5-1.5b", "qwen2.5-3b"],
  ["qwen2.5-3b", "qwen2.5-7b", "qwen2.5-14b"],
  ["qwen2.5-7b", "qwen2.5-14b", "qwen2.5-32b"],
  ["llama-3.2-1b", "llama-3.2-3b", "llama-3.1-8b"],
  ["gemma-2-2b", "gemma-2-9b", "gemma-2-27b"],
];

const GPUS = ["l40s", "h100-sxm", "a100-sxm-80g"];

/** Load below which a curve of a replica has one point only, as a share of its saturation. */
const LIGHT_SHARE = 0.05;

/** Uniform, unlike `fc.double`, which draws every representable number with equal probability and so almost only small ones. */
const uniform = (low: number, high: number) => fc.integer({ min: 0, max: 1e6 }).map((value) => low + (value / 1e6) * (high - low));

const logarithmic = (low: number, high: number) => uniform(Math.log(low), Math.log(high)).map(Math.exp);

const smallGpu: fc.Arbitrary<Omit<UserGpu, "id">> = fc.record({
  name: fc.constant("small"),
  memoryBytes: logarithmic(6e9, 3e10),
  memoryBytesPerSecond: logarithmic(1e10, 1e12),
  denseFlopsBf16: logarithmic(1e11, 5e13),
  denseFlopsFp8: fc.constant(null),
  link: fc.constantFrom("nvlink", "pcie"),
  linkBytesPerSecond: logarithmic(1e9, 1e11),
  pcieBytesPerSecond: logarithmic(1e9, 3e10),
  powerWatts: fc.constant(null),
  efficienciesOf: fc.constantFrom("l40s", "a100-sxm-80g"),
  source: fc.constant("drawn"),
});

const smallModel = fc.record({
  layers: fc.integer({ min: 2, max: 24 }),
  heads: fc.constantFrom(4, 8, 16),
  kvHeads: fc.constantFrom(2, 4),
});

function userModel(id: string, { layers, heads, kvHeads }: { readonly layers: number; readonly heads: number; readonly kvHeads: number }) {
  const model: UserModel = {
    id,
    huggingFace: null,
    architecture: {
      layers,
      hidden: heads * 64,
      attention: { kind: "gqa", heads, kvHeads, headDim: 64, qkvBias: false },
      feedForward: { kind: "dense", ffn: heads * 256 },
      vocabulary: 8192,
      tiedEmbeddings: true,
      normsPerLayer: 2,
      slidingWindow: null,
    },
    precision: "bf16",
    quantized: "linear-layers",
    kvBytesPerValue: 2,
    publishedParamsB: null,
    maxContextTokens: 8192,
    source: "drawn",
  };
  return model;
}

const hardware = fc.oneof(
  fc.record({
    gpus: fc.shuffledSubarray(GPUS, { minLength: 2, maxLength: 2 }),
    ladder: fc.constantFrom(...LADDERS),
    own: fc.constant<UserCards>({ models: [], gpus: [], prices: {} }),
  }),
  fc
    .record({ gpus: fc.array(smallGpu, { minLength: 2, maxLength: 2 }), models: fc.array(smallModel, { minLength: 3, maxLength: 3 }) })
    .map(({ gpus, models }) => {
      const size = ({ layers, heads }: { readonly layers: number; readonly heads: number }) => layers * heads * heads;
      const own: UserCards = {
        models: models.sort((a, b) => size(a) - size(b)).map((model, at) => userModel(`small-${at}`, model)),
        gpus: gpus.map((gpu, at) => ({ ...gpu, id: `gpu-${at}` })),
        prices: {},
      };
      return { gpus: own.gpus.map(({ id }) => id), ladder: own.models.map(({ id }) => id), own };
    }),
);

const drawn = fc.record({
  hardware,
  ladderLength: fc.integer({ min: 1, max: 3 }),
  gpus: fc.integer({ min: 1, max: 8 }),
  nodes: fc.constantFrom(1, 1, 2),
  /** One type of GPU without constraints, two types, or models pinned. */
  deployment: fc.constantFrom("plain", "plain", "plain", "two types", "pinned"),
  kind: fc.constantFrom<Objective["kind"]>("latency-under-quality", "latency-under-quality", "quality-under-latency", "cost-under-both"),
  floorShare: fc.oneof(uniform(0, 0.9), uniform(0, 0.9), uniform(0, 0.9), fc.constant(0)),
  budgetFactor: logarithmic(1.05, 4),
  judgeSeconds: logarithmic(0.005, 0.3),
  hostFactor: logarithmic(0.05, 4),
  requestSeconds: logarithmic(1e-3, 0.05),
  prompts: fc.integer({ min: 120, max: 300 }),
  arrivals: fc.integer({ min: 200, max: 1500 }),
  arrivalShape: fc.constantFrom(0.3, 0.862, 3),
  inputTokens: logarithmic(20, 1000),
  outputTokens: logarithmic(8, 300),
  // Requests of one length have no noise that could hide an error.
  lengthSigma: fc.oneof(uniform(0, 1), uniform(0, 1), uniform(0, 1), fc.constant(0)),
  seed: fc.integer({ min: 1, max: 1e6 }),
  light: fc.array(logarithmic(1e-3, 0.95), { minLength: 5, maxLength: 5 }),
  loaded: fc.array(logarithmic(0.05, 1.2), { minLength: 3, maxLength: 3 }),
});

type Drawn = typeof drawn extends fc.Arbitrary<infer Value> ? Value : never;

function workloadOf(models: readonly string[], of: Drawn): Workload {
  const random = seededRandom(of.seed);
  const length = (typical: number, own: number): number =>
    Math.min(2000, Math.max(1, Math.round(typical * Math.exp(of.lengthSigma * own))));
  const prompts = Array.from({ length: of.prompts }, () => ({
    difficulty: random.next(),
    length: random.normal(),
    input: random.normal(),
  }));
  const columns = models.map((model, at) => {
    const label = Float64Array.from(prompts, ({ difficulty }) => (random.next() * 0.4 + (0.3 + 0.25 * at) > difficulty ? 100 : 0));
    return {
      model,
      tableName: model,
      label,
      // A judge of eleven grades, so that there are few thresholds to try.
      judged: label.map((right) => 10 * Math.round(Math.min(10, Math.max(0, (right > 0 ? 6.5 : 3.5) + 2 * random.normal())))),
      outputTokens: Int32Array.from(prompts, (prompt) => length(of.outputTokens, 0.8 * prompt.length + 0.6 * random.normal())),
    };
  });
  return {
    name: "drawn",
    outcomes: {
      promptIds: prompts.map((_, at) => `prompt-${at}`),
      categories: prompts.map(() => "drawn"),
      inputTokens: Int32Array.from(prompts, ({ input }) => length(of.inputTokens, input)),
      models: columns,
    },
    arrivalSeconds: gammaArrivals({ requests: of.arrivals, requestsPerSecond: 5, shape: of.arrivalShape, seed: of.seed }),
    judge: { kind: "measured" },
    origin: { outcomes: "drawn", arrivals: "drawn", generated: true },
    seed: of.seed,
  };
}

function clusterOf({ gpus: types, own }: Drawn["hardware"], of: Drawn): ClusterSpec {
  const [first = "", second = ""] = types;
  const perNode = of.nodes === 1 || of.gpus < 2 ? [of.gpus] : [Math.ceil(of.gpus / 2), Math.floor(of.gpus / 2)];
  const mixed = of.deployment === "two types" && perNode.length > 1;
  const price = own.gpus.length > 0 ? 0.5 : 2;
  return {
    id: "drawn",
    name: "drawn",
    kind: "described",
    gpu: first,
    nodes: perNode.map((gpus, at) => ({ name: `node${at + 1}`, gpus, ...(mixed && at === 1 ? { gpu: second } : {}) })),
    usdPerGpuHour: price,
    ...(mixed ? { otherUsdPerGpuHour: { [second]: 2 * price } } : {}),
  };
}

/** The lowest rate at which the smallest replica of any model on the cluster's first GPU type saturates; null if none fits. */
function leastSaturation({ workload, cluster, userCards, engineProfile }: Omit<RateCase, "rates" | "lightRates">): number | null {
  const { models, gpus } = catalogueOf(userCards);
  const gpu = cardOf(gpus, cluster.gpu);
  const { outcomes } = workload;
  const rates = outcomes.models.flatMap(({ model, outputTokens }) => {
    const card = cardOf(models, model);
    const gpusPerNode = cluster.nodes[0]?.gpus ?? 0;
    if (card === undefined || gpu === undefined) return [];
    const [smallest] = feasibleReplicas(card, gpu, { gpusPerNode, maxGpus: gpusPerNode }, engineProfile);
    const requests = 900;
    const own = (values: Int32Array) => Int32Array.from({ length: requests }, (_, at) => values[at % values.length] ?? 0);
    const work = { inputTokens: own(outcomes.inputTokens), outputTokens: own(outputTokens), arrivalSeconds: new Float64Array(requests) };
    return smallest === undefined ? [] : (saturationRate(smallest.replica, work, requests) ?? []);
  });
  return rates.length === 0 ? null : Math.min(...rates);
}

function caseOf(of: Drawn): RateCase | null {
  const models = of.hardware.ladder.slice(0, of.ladderLength);
  const first = models[0] ?? "";
  const { coefficients } = vllmProfile;
  const base = {
    workload: workloadOf(models, of),
    cluster: clusterOf(of.hardware, of),
    userCards: of.hardware.own,
    // Without its own errors, so that the band of a p95 is the spread of the simulated traffic only.
    engineProfile: {
      ...vllmProfile,
      coefficients: {
        ...coefficients,
        stepSeconds: of.hostFactor * coefficients.stepSeconds,
        layerSeconds: of.hostFactor * coefficients.layerSeconds,
        requestSeconds: of.requestSeconds,
      },
      errors: null,
      fittedOn: null,
    },
    constraints: of.deployment === "pinned" ? { ...noConstraints, pinned: [{ model: first, replicas: 1 }] } : noConstraints,
    kind: of.kind,
    floorShare: of.floorShare,
    budgetFactor: of.budgetFactor,
    judgeSeconds: of.judgeSeconds,
  };
  const saturation = leastSaturation(base);
  if (saturation === null) return null;
  const light = of.light.map((share) => share * LIGHT_SHARE * saturation);
  const loaded = of.loaded.map((share) => share * of.gpus * saturation);
  const rates = [...light, ...loaded].sort((a, b) => a - b);
  return { ...base, rates, lightRates: rates.filter((rate) => rate < LIGHT_SHARE * saturation).length };
}

/** Workloads, hardware and objectives that differ widely, each with eight rates of which five are far below saturation. */
export const rateCases: fc.Arbitrary<RateCase> = fc
  .noBias(drawn)
  .map(caseOf)
  .filter((one): one is RateCase => one !== null);
