import type { Provenance } from "../engine/provenance";
import { wholePercent } from "../wording/wording";
import type { KernelProfile } from "./engineProfile";
import type { GpuCard } from "./gpus";
import type {
  AllReduceCoefficients,
  DecodeAttentionCoefficients,
  GemmCoefficients,
  PrefillAttentionCoefficients,
} from "./kernelCoefficients";
import { kernelCoefficients } from "./kernelCoefficients";
import type { KernelRates } from "./kernels";
import { bytesPerWeight, type ModelCard, type Precision } from "./modelCard";

/** The kernels of a model on a GPU: coefficients selected by precision, corrected by the engine's factors. */
export interface GpuKernels {
  /** Rates for weights of so many bytes. */
  rates(bytesPerWeight: number): KernelRates;
  gemm(rates: KernelRates): GemmCoefficients;
  readonly experts: GemmCoefficients;
  readonly decodeAttention: DecodeAttentionCoefficients;
  readonly prefillAttention: PrefillAttentionCoefficients;
  allReduce(gpus: number): AllReduceCoefficients;
  readonly provenance: readonly Provenance[];
}

/**
 * Picks the kernels: fp8 weights on a GPU with fp8 tensor cores use the fp8 tables; on others, and int4 weights everywhere, weights
 * are read at their size and multiplied in bf16 (weight-only quantisation).
 *
 * The factor on reading weights corrects a kernel, so it applies to the precisions that were fitted; the one on computing is mostly clocks
 * under steady load, which no microbenchmark measures, so it applies to all.
 */
export function gpuKernels(gpu: GpuCard, model: ModelCard, { coefficients: own, fittedOn }: KernelProfile): GpuKernels {
  const measured = kernelCoefficients[gpu.efficienciesOf];
  const corrected = (coefficients: GemmCoefficients, precision: Precision): GemmCoefficients => ({
    ...coefficients,
    weightRead: shareOf(coefficients.weightRead, fittedOn === null || fittedOn.weights.includes(precision) ? own.weightRead : 1),
    compute: shareOf(coefficients.compute, own.compute),
  });
  const bf16 = corrected(measured.gemm.bf16, "bf16");
  const fp8 = gpu.denseFlopsFp8 === null || measured.gemm.fp8 === null ? null : corrected(measured.gemm.fp8, "fp8");
  const fp8Cache = model.kvBytesPerValue < 2;
  const decode = (fp8Cache ? measured.decodeAttention.fp8 : null) ?? measured.decodeAttention.bf16;
  const prefill = (fp8Cache ? measured.prefillAttention.fp8 : null) ?? measured.prefillAttention.bf16;
  const experts = model.precision === "fp8" && fp8 !== null ? (measured.experts.fp8 ?? measured.experts.bf16) : measured.experts.bf16;
  // GPUs on PCIe have the link efficiency of the L40S, whatever the source of their compute kernels.
  const link = gpu.link === "pcie" ? kernelCoefficients.l40s.allReduce : measured.allReduce;
  return {
    rates: (bytes) => kernelRates(gpu, bytes),
    gemm: ({ bytesPerWeight: bytes }) => (bytes === bytesPerWeight.fp8 ? (fp8 ?? bf16) : bf16),
    experts: corrected(experts, model.precision),
    decodeAttention: { ...decode, kvRead: shareOf(decode.kvRead, own.kvRead) },
    prefillAttention: { ...prefill, compute: shareOf(prefill.compute, own.prefillAttention) },
    allReduce(gpus) {
      const fitted = gpus === 2 || gpus === 4 ? link[gpus] : link[8];
      return { ...fitted, link: shareOf(fitted.link, own.allReduce) };
    },
    provenance: [kernelProvenance(gpu, model)],
  };
}

/** No table's kernels read, compute or send at more than this share of the nominal rate in large calls. */
const BEST_SHARE = 0.95;

/** A table's share of a nominal rate, corrected by an engine's factor. */
const shareOf = (table: number, factor: number): number => Math.min(Math.max(BEST_SHARE, table), table * factor);

/** Nominal rates for weights of so many bytes: fp8 ones are multiplied in fp8 where the GPU can, all others in bf16. */
export function kernelRates(gpu: GpuCard, weightBytes: number): KernelRates {
  const inFp8 = weightBytes === bytesPerWeight.fp8 && gpu.denseFlopsFp8 !== null;
  return {
    memoryBytesPerSecond: gpu.memoryBytesPerSecond,
    flops: inFp8 ? (gpu.denseFlopsFp8 ?? gpu.denseFlopsBf16) : gpu.denseFlopsBf16,
    bytesPerWeight: weightBytes,
    bytesPerInput: inFp8 ? 4 : 2,
  };
}

/** The source of the kernel coefficients of a model on a GPU, and their errors on their tables. */
function kernelProvenance(gpu: GpuCard, model: ModelCard): Provenance {
  const { gemm, decodeAttention, prefillAttention, allReduce } = kernelCoefficients[gpu.efficienciesOf];
  const weights = model.precision === "fp8" && gpu.denseFlopsFp8 !== null ? (gemm.fp8 ?? gemm.bf16) : gemm.bf16;
  const cache = model.kvBytesPerValue < 2 ? "fp8" : "bf16";
  const attention = Math.max(
    (decodeAttention[cache] ?? decodeAttention.bf16).medianError,
    (prefillAttention[cache] ?? prefillAttention.bf16).medianError,
  );
  const reduce = Math.max(...Object.values(allReduce).map(({ medianError }) => medianError));
  const source = `kernel tables of ${gpu.efficienciesOf} (ai-dynamo/aiconfigurator@095f58a); median errors: GEMM ${wholePercent(weights.medianError)}, attention ${wholePercent(attention)}, all-reduce ${wholePercent(reduce)}`;
  return gpu.efficienciesOf === gpu.id
    ? { kind: "fitted", source }
    : { kind: "extrapolated", source: `${gpu.id} has no own tables; ${source}` };
}
