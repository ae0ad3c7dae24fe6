import { saturationRate } from "@/solver/engine/saturation";
import { gpuCard } from "@/solver/hardware/gpus";
import { modelCard } from "@/solver/hardware/models";
import { replicaModel } from "@/solver/hardware/replicaShapes";
import type { Benchmark, Measurement } from "../lib/benchmark";

/** The workload of the source's table 1: the mean lengths, as every request has them here. */
const [INPUT_TOKENS, OUTPUT_TOKENS] = [1600, 16] as const;

const REQUESTS = 600;

/** Llama 3 70B has the shape of 3.1, which has a card. */
const MODEL = "llama-3.1-70b";
const GPU = "h100-sxm";

/** The source's configurations: replicas, tensor and pipeline parallelism of each. */
const CONFIGURATIONS = [
  [1, 4, 1],
  [1, 2, 2],
  [1, 1, 4],
  [2, 1, 2],
  [2, 2, 1],
  [2, 4, 1],
  [2, 2, 2],
] as const;

type Configuration = (typeof CONFIGURATIONS)[number];

const textOf = (configuration: Configuration): string => `(${configuration.join(", ")})`;

/** Requests a second that the replicas of a configuration finish when they always have work. */
export function parallelRate([replicas, tp, pp]: Configuration): number | null {
  const [model, gpu] = [modelCard(MODEL), gpuCard(GPU)];
  if (model === undefined || gpu === undefined) throw new Error(`no card of ${MODEL} or ${GPU}`);
  const fit = replicaModel(model, gpu, { tp, pp });
  if (!fit.fits) return null;
  const inputTokens = new Array<number>(REQUESTS).fill(INPUT_TOKENS);
  const rate = saturationRate(fit.replica, { inputTokens, outputTokens: inputTokens.map(() => OUTPUT_TOKENS) }, REQUESTS);
  return rate === null ? null : replicas * rate;
}

const measured = (configuration: Configuration): Measurement => ({
  figure: parallelRate(configuration) ?? Number.NaN,
  unit: "req/s",
  detail: `${REQUESTS} requests of ${INPUT_TOKENS} and ${OUTPUT_TOKENS} tokens, simulated on ${GPU} by the built-in profile of vLLM`,
});

const nameOf = (configuration: Configuration): string => `simulated saturation rate of ${MODEL} at ${textOf(configuration)}`;

/** Row and benchmark of each configuration of the source's table. */
export const parallelRows: readonly { readonly rows: string; readonly benchmark: string }[] = CONFIGURATIONS.map((configuration) => ({
  rows: `${textOf(configuration)}: simulated`,
  benchmark: nameOf(configuration),
}));

export const parallelBenchmarks: readonly Benchmark[] = CONFIGURATIONS.map((configuration) => ({
  name: nameOf(configuration),
  budget: null,
  run: () => measured(configuration),
}));
