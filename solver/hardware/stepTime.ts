import type { Provenance, StepLoad, StepTime } from "@/solver/engine/replicaModel";
import { attentionWidth, kvShards, kvValuesPerLayer, type LinearLayer, linearLayers } from "./architecture";
import { vllmProfile } from "./builtInProfiles";
import type { EngineProfile } from "./engineProfile";
import { type GpuKernels, gpuKernels } from "./gpuKernels";
import type { GpuCard } from "./gpus";
import { allReduceSeconds, expertsSeconds, gemmSeconds, type MatrixShape, type SecondsByRows } from "./kernels";
import { bytesPerWeight, layerBytesPerWeight, type ModelCard } from "./modelCard";
import { largestStageShare, type ReplicaShape } from "./parallelism";

/** Latency of handing activations to the next pipeline stage (ai-dynamo/aiconfigurator, `p2p_latency_us`). */
const PIPELINE_SEND_SECONDS = 10e-6;

/** Activations travel in bf16. */
const ACTIVATION_BYTES = 2;

/** Two all-reduces a layer: after attention and after the feed-forward part. */
const ALL_REDUCES_PER_LAYER = 2;

/** Windows up to this many tokens are full in nearly every request; wider ones are counted as if they saw everything. */
const SHORT_WINDOW_TOKENS = 1024;

/**
 * What a layer of latent attention takes beyond its matrices and the reading of its cache (absorbed projections, rotary, norms). With it half of
 * the measured MLA modules of H100 and H200 (ai-dynamo/aiconfigurator@095f58a) lie within 8 and 10 % decoding, 15 and 14 % prefilling.
 */
const LATENT_LAUNCH_SECONDS = 60e-6;

/** Times of the linear part are kept for up to this many tokens: the default token budget of a step, and the sequences beside it. */
const KEPT_TOKENS = 8192 + 1024;

/**
 * Analytic time of one engine step, kernel by kernel (`kernels.ts` has the forms):
 * ```
 * linear = sum over weight matrices of gemm(tokens) + output projection(sequences) + 2 * layers * all-reduce(tokens)
 * attn   = layers * (launch + sequences * heads / tp * perHead) + cached tokens * KV bytes / shards / (bandwidth * e)
 *          + prefill pairs * 4 * width * layers / tp / (FLOPS * e) + prompt activations
 * own    = step + layer * layers + sequence * sequences
 * ```
 * With a pipeline of pp stages a step is one cycle in which pp micro-batches pass all stages: every micro-batch reads all weights,
 * with its share of the tokens, which for steady decoding is 1/pp, and for prefill, which has to fill the pipe, (2 pp - 1) / pp^2 (GPipe's fill and
 * drain with pp micro-batches); sends add up.
 *
 * @param profile fitted terms of the engine's own work; vLLM's by default.
 */
export function stepTime(model: ModelCard, gpu: GpuCard, shape: ReplicaShape, profile: EngineProfile = vllmProfile): StepTime {
  const { layers, hidden, attention, slidingWindow } = model.architecture;
  const { tp, pp } = shape;
  const own = profile.coefficients;
  const kernels = gpuKernels(gpu, model, own);
  /** The fullest stage sets the pace of all: 1 when the layers divide evenly. */
  const imbalance = largestStageShare(model, shape) * pp;
  const steady = 1 / pp;
  const filling = (2 * pp - 1) / (pp * pp);
  const shortWindow = slidingWindow !== null && slidingWindow.tokens <= SHORT_WINDOW_TOKENS ? slidingWindow : null;
  const fullShare = 1 - (shortWindow?.layersShare ?? 0);

  const matrices = linearLayers(model.architecture).map((layer) => {
    const rates = kernels.rates(layerBytesPerWeight(model, layer));
    const shard = shardOf(layer, hidden, tp);
    const seconds =
      layer.kind === "routed-expert"
        ? expertsSeconds(kernels.experts, rates, shard, layer)
        : gemmSeconds(kernels.gemm(rates), rates, shard);
    return { count: layer.count, seconds };
  });
  const reduces = tp === 1 ? 0 : ALL_REDUCES_PER_LAYER * layers;
  const linearSeconds = keptByTokens((tokens) => {
    let gemms = 0;
    for (const { count, seconds } of matrices) gemms += count * seconds(tokens);
    const bytes = tokens * hidden * ACTIVATION_BYTES;
    return imbalance * gemms + (reduces === 0 ? 0 : reduces * allReduceSeconds(kernels.allReduce(tp), gpu.linkBytesPerSecond, tp, bytes));
  });
  const outputRates = kernels.rates(bytesPerWeight.bf16);
  const outputShard = { inFeatures: hidden, outFeatures: Math.ceil(model.architecture.vocabulary / tp) };
  const outputSeconds = keptByTokens(gemmSeconds(kernels.gemm(outputRates), outputRates, outputShard));

  const headsPerGpu = attention.heads / tp;
  const kvBytes = (kvValuesPerLayer(model.architecture) * model.kvBytesPerValue) / kvShards(model.architecture, tp);
  const secondsPerLayerKvToken =
    imbalance *
    Math.max(
      kvBytes / (gpu.memoryBytesPerSecond * kernels.decodeAttention.kvRead),
      // All heads of a latent share one entry of the cache: reading it once, they may be bound by arithmetic.
      attention.kind === "mla"
        ? (headsPerGpu * 2 * (2 * attention.kvRank + attention.ropeDim)) / (gpu.denseFlopsBf16 * kernels.prefillAttention.compute)
        : 0,
    );
  const secondsPerKvToken = steady * layers * fullShare * secondsPerLayerKvToken;
  const windowSeconds = steady * layers * (1 - fullShare) * (shortWindow?.tokens ?? 0) * secondsPerLayerKvToken;
  const secondsPerSequence = own.sequenceSeconds + windowSeconds + layers * headsPerGpu * kernels.decodeAttention.secondsPerSequenceHead;

  const width = attentionWidth(model.architecture) / tp;
  const secondsPerPair = (imbalance * layers * 4 * width) / (gpu.denseFlopsBf16 * kernels.prefillAttention.compute);
  const prefillWidths = 2 * (width + kvValuesPerLayer(model.architecture) / 2 / kvShards(model.architecture, tp));
  const secondsPerPrefillToken =
    (imbalance * layers * prefillWidths * ACTIVATION_BYTES) / (gpu.memoryBytesPerSecond * kernels.prefillAttention.activation) +
    (1 - fullShare) * (shortWindow?.tokens ?? 0) * secondsPerPair;

  const sends = pp - 1;
  const sendSecondsPerToken = (sends * hidden * ACTIVATION_BYTES) / pp / gpu.pcieBytesPerSecond;
  const fixedSeconds =
    own.stepSeconds +
    layers * (own.layerSeconds + kernels.decodeAttention.launchSeconds + (attention.kind === "mla" ? LATENT_LAUNCH_SECONDS : 0)) +
    sends * PIPELINE_SEND_SECONDS;
  const commonSeconds = (tokens: number, sequences: number, share: number): number =>
    fixedSeconds +
    secondsPerSequence * sequences +
    linearSeconds(share * tokens) +
    outputSeconds(share * sequences) +
    sendSecondsPerToken * tokens;

  return {
    decodeBaseSeconds: (sequences) => commonSeconds(sequences, sequences, steady),
    secondsPerKvToken,
    mixedStepSeconds: (load: StepLoad) =>
      commonSeconds(load.tokens, load.sequences, filling) +
      filling * (fullShare * secondsPerPair * load.prefillPairs + secondsPerPrefillToken * load.prefillTokens) +
      secondsPerKvToken * load.kvTokensRead,
    provenance: provenanceOf(model, gpu, kernels, profile),
  };
}

/** Where the coefficients of a step time come from, equal ones once. */
function provenanceOf(model: ModelCard, gpu: GpuCard, kernels: GpuKernels, profile: EngineProfile): readonly Provenance[] {
  const all = [gpu.provenance, model.provenance, ...kernels.provenance, ...Object.values(profile.provenance)];
  return [...new Map(all.map((one) => [`${one.kind} ${one.source}`, one])).values()];
}

/** What one GPU holds of a matrix: those that give the hidden state are cut along their input, others along their output, some not at all. */
function shardOf({ inFeatures, outFeatures, replicated }: LinearLayer, hidden: number, tp: number): MatrixShape {
  if (replicated) return { inFeatures, outFeatures };
  return outFeatures === hidden ? { inFeatures: inFeatures / tp, outFeatures } : { inFeatures, outFeatures: outFeatures / tp };
}

/** Keeps a function's values at whole numbers of tokens: the same few batch sizes come back in every step. */
function keptByTokens(seconds: SecondsByRows): SecondsByRows {
  let kept = new Float64Array(0);
  return (tokens) => {
    if (!(tokens < KEPT_TOKENS) || !Number.isInteger(tokens)) return seconds(tokens);
    if (tokens >= kept.length) {
      const longer = new Float64Array(Math.min(KEPT_TOKENS, Math.max(512, 2 * tokens)));
      longer.set(kept);
      kept = longer;
    }
    const known = kept[tokens] ?? 0;
    if (known > 0) return known;
    const fresh = seconds(tokens);
    kept[tokens] = fresh;
    return fresh;
  };
}
