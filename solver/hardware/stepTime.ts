import type { StepLoad, StepTime } from "@/solver/engine/replicaModel";
import type { Provenance } from "../engine/provenance";
import { activatedFfn, attentionWidth, kvShards, kvValuesPerLayer, type LinearLayer, linearLayers } from "./architecture";
import { vllmProfile } from "./builtInProfiles";
import type { KernelProfile } from "./engineProfile";
import { type GpuKernels, gpuKernels } from "./gpuKernels";
import type { GpuCard } from "./gpus";
import {
  allReduceSeconds,
  decodeAttentionTerms,
  expertsSeconds,
  gemmSeconds,
  type MatrixShape,
  prefillAttentionTerms,
  type SecondsByRows,
} from "./kernels";
import { bytesPerWeight, layerBytesPerWeight, type ModelCard } from "./modelCard";
import { largestStageShare, type ReplicaShape } from "./parallelism";

/** Latency of sending activations to the next pipeline stage (ai-dynamo/aiconfigurator, `p2p_latency_us`). */
const PIPELINE_SEND_SECONDS = 10e-6;

/** Activations are sent in bf16. */
const ACTIVATION_BYTES = 2;

/** Two all-reduces a layer: after attention and after the feed-forward part. */
const ALL_REDUCES_PER_LAYER = 2;

/**
 * Windows up to this many tokens are full in nearly every request, so the cost of attention is per sequence. Wider ones are counted as if
 * they attended to everything: an upper bound.
 */
const SHORT_WINDOW_TOKENS = 128;

/**
 * Values of the hidden state and of the feed-forward width that norms, residuals, rotary and activations read and write for each token and
 * layer: two fused norms of four passes each; gate and up read, their product written. At this share of nominal bandwidth.
 */
const ELEMENTWISE_HIDDEN = 8;
const ELEMENTWISE_FFN = 3;
const ELEMENTWISE_BANDWIDTH = 0.7;

/**
 * Time of a layer of latent attention in addition to its matrices and the reading of its cache (absorbed projections, rotary, norms). With
 * it the median errors on the measured MLA modules of H100 and H200 (ai-dynamo/aiconfigurator@095f58a) are 8 and 10 % decoding, 15 and 14 %
 * prefilling.
 */
const LATENT_LAUNCH_SECONDS = 60e-6;

/** Times of the linear part are cached for up to this many tokens: the default token budget of a step, plus the sequences. */
const KEPT_TOKENS = 8192 + 1024;

/**
 * Analytic time of one engine step, kernel by kernel (`kernels.ts` has the forms):
 * ```
 * linear = sum over weight matrices of gemm(tokens) + norms and activations(tokens) + output projection(sequences)
 *          + 2 * layers * all-reduce(tokens)
 * attn   = layers * (launch + sequences * heads / tp * perHead) + cached tokens * KV bytes / shards / (bandwidth * e)
 *          + prefill pairs * 4 * width * layers / tp / (FLOPS * e) + prompt activations
 * own    = step + layer * layers + sequence * sequences
 * ```
 * With a pipeline of pp stages a step is one cycle in which pp micro-batches pass all stages: every micro-batch reads all weights,
 * with its share of the tokens, which for steady decoding is 1/pp, and for prefill, which has to fill the pipe, (2 pp - 1) / pp^2 (GPipe's
 * fill and drain with pp micro-batches); sends add up.
 *
 * @param profile fitted terms of the engine's own work; vLLM's by default.
 */
export function stepTime(model: ModelCard, gpu: GpuCard, shape: ReplicaShape, profile: KernelProfile = vllmProfile): StepTime {
  const { layers, hidden, attention, slidingWindow } = model.architecture;
  const { tp, pp } = shape;
  const own = profile.coefficients;
  const kernels = gpuKernels(gpu, model, profile);
  /** The fullest stage limits the rate of all: 1 when the layers divide evenly. */
  const imbalance = largestStageShare(model, shape) * pp;
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
  const elementwise = ELEMENTWISE_HIDDEN * layers * hidden + (ELEMENTWISE_FFN * activatedFfn(model.architecture)) / tp;
  const elementwiseSeconds = (elementwise * ACTIVATION_BYTES) / (gpu.memoryBytesPerSecond * ELEMENTWISE_BANDWIDTH);
  const reduces = tp === 1 ? 0 : ALL_REDUCES_PER_LAYER * layers;
  const linearSeconds = keptByTokens((tokens) => {
    let gemms = 0;
    for (const { count, seconds } of matrices) gemms += count * seconds(tokens);
    const bytes = tokens * hidden * ACTIVATION_BYTES;
    return (
      imbalance * (gemms + tokens * elementwiseSeconds) +
      (reduces === 0 ? 0 : reduces * allReduceSeconds(kernels.allReduce(tp), gpu.linkBytesPerSecond, tp, bytes))
    );
  });
  const outputRates = kernels.rates(bytesPerWeight.bf16);
  const outputShard = { inFeatures: hidden, outFeatures: Math.ceil(model.architecture.vocabulary / tp) };
  const outputSeconds = keptByTokens(gemmSeconds(kernels.gemm(outputRates), outputRates, outputShard));

  const heads = attention.heads / tp;
  const kvValues = kvValuesPerLayer(model.architecture) / kvShards(model.architecture, tp);
  const decode = decodeAttentionTerms(kernels.decodeAttention, gpu.memoryBytesPerSecond, heads);
  // All heads of a latent share one entry of the cache: reading it once, they may be compute-bound.
  const latentFlops = attention.kind === "mla" ? heads * 2 * (2 * attention.kvRank + attention.ropeDim) : 0;
  const secondsPerLayerKvToken = Math.max(
    kvValues * model.kvBytesPerValue * decode.secondsPerKvByte,
    latentFlops / (gpu.denseFlopsBf16 * kernels.prefillAttention.compute),
  );
  const paceLayers = imbalance * layers;
  const secondsPerKvToken = (1 / pp) * paceLayers * fullShare * secondsPerLayerKvToken;
  const windowTokens = (1 - fullShare) * (shortWindow?.tokens ?? 0);
  const secondsPerDecode = paceLayers * (decode.secondsPerSequence + windowTokens * secondsPerLayerKvToken);

  const prefillRates = { memoryBytesPerSecond: gpu.memoryBytesPerSecond, flopsBf16: gpu.denseFlopsBf16 };
  const widths = { width: attentionWidth(model.architecture) / tp, kvWidth: kvValues / 2 };
  const prefill = prefillAttentionTerms(kernels.prefillAttention, prefillRates, widths);
  const secondsPerPrefillToken = paceLayers * (prefill.secondsPerToken + windowTokens * prefill.secondsPerPair);
  const secondsPerPair = paceLayers * fullShare * prefill.secondsPerPair;

  const sends = pp - 1;
  const sendSecondsPerToken = (sends * hidden * ACTIVATION_BYTES) / pp / gpu.pcieBytesPerSecond;
  const latentSeconds = attention.kind === "mla" ? LATENT_LAUNCH_SECONDS : 0;
  const fixedSeconds = own.stepSeconds + layers * (own.layerSeconds + decode.launchSeconds + latentSeconds) + sends * PIPELINE_SEND_SECONDS;
  /** A cycle of the pipeline: prompts fill it; decodes share it evenly, in as many micro-batches as there are sequences for. */
  const cycleSeconds = (decodes: number, prompts: number, sequences: number): number => {
    const steady = 1 / Math.min(pp, Math.max(1, decodes));
    return (
      fixedSeconds +
      own.sequenceSeconds * sequences +
      steady * secondsPerDecode * decodes +
      linearSeconds(steady * decodes + filling * prompts) +
      outputSeconds(steady * decodes + filling * (sequences - decodes)) +
      sendSecondsPerToken * (decodes + prompts)
    );
  };

  return {
    decodeBaseSeconds: (sequences) => cycleSeconds(sequences, 0, sequences),
    secondsPerKvToken,
    mixedStepSeconds: ({ tokens, prefillTokens, prefillPairs, kvTokensRead, sequences }: StepLoad) =>
      cycleSeconds(tokens - prefillTokens, prefillTokens, sequences) +
      filling * (secondsPerPair * prefillPairs + secondsPerPrefillToken * prefillTokens) +
      secondsPerKvToken * kvTokensRead,
    provenance: provenanceOf(model, gpu, kernels, profile),
  };
}

/** The sources of a step time's coefficients, without duplicates. */
function provenanceOf(model: ModelCard, gpu: GpuCard, kernels: GpuKernels, profile: KernelProfile): readonly Provenance[] {
  const all = [gpu.provenance, model.provenance, ...kernels.provenance, ...Object.values(profile.provenance)];
  return [...new Map(all.map((one) => [`${one.kind} ${one.source}`, one])).values()];
}

/** The part of a matrix on one GPU: divided along its input if it yields the hidden state, else along its output, or not at all. */
function shardOf({ inFeatures, outFeatures, replicated }: LinearLayer, hidden: number, tp: number): MatrixShape {
  if (replicated) return { inFeatures, outFeatures };
  return outFeatures === hidden ? { inFeatures: inFeatures / tp, outFeatures } : { inFeatures, outFeatures: outFeatures / tp };
}

/** Caches a function's values at whole numbers of tokens: the same few batch sizes occur in every step. */
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
