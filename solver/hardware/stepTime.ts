import type { StepLoad, StepTime } from "@/solver/engine/replicaModel";
import { activeLinearParams, attentionWidth, kvShards, linearParams, outputParams } from "./architecture";
import { type EngineCosts, vllmCosts } from "./engineCosts";
import type { GpuCard } from "./gpus";
import { efficiencyProvenance, type KernelEfficiencies, kernelEfficiencies } from "./kernelEfficiencies";
import { bytesPerWeight, kvBytesPerToken, type ModelCard } from "./modelCard";
import { largestStageShare, type ReplicaShape } from "./parallelism";

/** Latency of handing activations to the next pipeline stage (ai-dynamo/aiconfigurator, `p2p_latency_us`). */
const PIPELINE_SEND_SECONDS = 10e-6;

/** Activations travel in bf16. */
const ACTIVATION_BYTES = 2;

/** Two all-reduces a layer: after attention and after the feed-forward part. */
const ALL_REDUCES_PER_LAYER = 2;

/**
 * Analytic time of one engine step:
 * ```
 * gemm = max(weight bytes / tp / (bandwidth * e), 2 * params * tokens / tp / (FLOPS * e))
 * attn = cached tokens * KV bytes / tp / (bandwidth * e) + prefill pairs * 4 * heads * headDim * layers / tp / (FLOPS * e)
 * comm = 2 * layers * (all-reduce latency + tokens * hidden * 2 B * 2 (tp - 1) / tp / (link * e))
 * own  = base + perLayer * layers + perSequence * sequences
 * ```
 * With a pipeline of pp stages a step is one cycle in which pp micro-batches pass all stages: weights are read once per
 * micro-batch, so their time stays; compute, KV reads and all-reduce volume of steady decoding divide by pp; prefill, which
 * has to fill the pipe, divides by pp^2 / (2 pp - 1) (GPipe's fill and drain with pp micro-batches); sends add up.
 *
 * @param engine fitted costs of the engine's own work; vLLM's by default.
 */
export function stepTime(model: ModelCard, gpu: GpuCard, shape: ReplicaShape, engine: EngineCosts = vllmCosts): StepTime {
  const { layers, hidden } = model.architecture;
  const { tp, pp } = shape;
  const efficiencies = kernelEfficiencies[gpu.efficienciesOf];
  const precision = model.precision === "fp8" ? "fp8" : "bf16";
  const peakFlops = precision === "fp8" && gpu.denseFlopsFp8 !== null ? gpu.denseFlopsFp8 : gpu.denseFlopsBf16;
  /** The fullest stage sets the pace of all: 1 when the layers divide evenly. */
  const imbalance = largestStageShare(model, shape) * pp;

  const linear = linearParams(model.architecture);
  const output = outputParams(model.architecture);
  const weightSeconds =
    (imbalance * (linear + output) * bytesPerWeight[model.precision]) / tp / (gpu.memoryBytesPerSecond * efficiencies.weightRead);
  const flops = peakFlops * efficiencies.compute[precision];
  const secondsPerToken = (imbalance * 2 * activeLinearParams(model.architecture)) / tp / flops;
  const secondsPerSample = (imbalance * 2 * output) / tp / flops;
  const secondsPerPair =
    (imbalance * 4 * attentionWidth(model.architecture) * layers) / tp / (gpu.denseFlopsBf16 * efficiencies.prefillAttention);
  const secondsPerKvToken =
    (imbalance * kvBytesPerToken(model)) / kvShards(model.architecture, tp) / pp / (gpu.memoryBytesPerSecond * efficiencies.kvRead);

  const reduce = allReduceCosts(gpu, tp, efficiencies);
  const reduces = tp > 1 ? ALL_REDUCES_PER_LAYER * layers : 0;
  const reduceLatencySeconds = reduces * reduce.latencySeconds;
  const reduceSecondsPerToken = reduces * hidden * ACTIVATION_BYTES * reduce.secondsPerByte;
  const sends = pp - 1;
  const sendSecondsPerToken = (sends * hidden * ACTIVATION_BYTES) / pp / gpu.pcieBytesPerSecond;
  const fixedSeconds = engine.baseSeconds + engine.perLayerSeconds * layers + reduceLatencySeconds + sends * PIPELINE_SEND_SECONDS;

  const steady = 1 / pp;
  const filling = (2 * pp - 1) / (pp * pp);
  const linearPart = (tokens: number, sequences: number, share: number): number =>
    fixedSeconds +
    engine.perSequenceSeconds * sequences +
    Math.max(weightSeconds, share * (secondsPerToken * tokens + secondsPerSample * sequences)) +
    tokens * (share * reduceSecondsPerToken + sendSecondsPerToken);

  return {
    decodeBaseSeconds: (sequences) => linearPart(sequences, sequences, steady),
    secondsPerKvToken,
    mixedStepSeconds: (load: StepLoad) =>
      linearPart(load.tokens, load.sequences, filling) +
      filling * secondsPerPair * load.prefillPairs +
      secondsPerKvToken * load.kvTokensRead,
    provenance: [gpu.provenance, model.provenance, efficiencyProvenance(gpu.id, gpu.efficienciesOf), engine.provenance],
  };
}

/** Latency and inverse bandwidth of one all-reduce among the tp GPUs of a stage. Ring volume: 2 (tp - 1) / tp of the message. */
function allReduceCosts(gpu: GpuCard, tp: number, measured: KernelEfficiencies): { latencySeconds: number; secondsPerByte: number } {
  if (tp === 1) return { latencySeconds: 0, secondsPerByte: 0 };
  // GPUs on PCIe reach what the L40S reaches, whatever their compute kernels are borrowed from.
  const link = gpu.link === "pcie" ? kernelEfficiencies.l40s : measured;
  const [latencySeconds, efficiency] =
    tp === 2
      ? [link.allReduceLatencySeconds[0], link.allReduce[0]]
      : tp === 4
        ? [link.allReduceLatencySeconds[1], link.allReduce[1]]
        : [link.allReduceLatencySeconds[2], link.allReduce[2]];
  return { latencySeconds, secondsPerByte: (2 * (tp - 1)) / tp / (gpu.linkBytesPerSecond * efficiency) };
}
