import type { Provenance } from "@/solver/engine/replicaModel";
import type { MeasuredGpu } from "./kernelCoefficients";

/** One kind of GPU. Compute figures are dense (no sparsity), links one way per GPU. */
export interface GpuCard {
  readonly id: string;
  readonly name: string;
  readonly memoryBytes: number;
  readonly memoryBytesPerSecond: number;
  readonly denseFlopsBf16: number;
  /** null: no fp8 tensor cores, so fp8 weights save memory and bandwidth but compute runs at the bf16 rate. */
  readonly denseFlopsFp8: number | null;
  /** What joins the GPUs of a node. */
  readonly link: "nvlink" | "pcie";
  readonly linkBytesPerSecond: number;
  readonly pcieBytesPerSecond: number;
  /** Board power limit; null where no source was read. */
  readonly powerWatts: number | null;
  /** GPU whose measured kernel efficiencies serve this one; another id than its own means extrapolated. */
  readonly efficienciesOf: MeasuredGpu;
  /** An editable default, never a fact: list prices move monthly and differ tenfold by provider. null: no list price read. */
  readonly usdPerGpuHour: number | null;
  readonly price: { readonly provider: string; readonly asOf: string; readonly source: string } | null;
  readonly provenance: Provenance;
}

/** When the catalogue of list prices was read. */
const PRICES_AS_OF = "autumn 2026";

const SKYPILOT = "skypilot-org/skypilot-catalog (list price, on demand)";

const CARDS: readonly GpuCard[] = [
  {
    id: "a100-sxm-80g",
    name: "NVIDIA A100 SXM4 80GB",
    memoryBytes: 85899345920,
    memoryBytesPerSecond: 2.039e12,
    denseFlopsBf16: 312e12,
    denseFlopsFp8: null,
    link: "nvlink",
    linkBytesPerSecond: 300e9,
    pcieBytesPerSecond: 32e9,
    powerWatts: 400,
    efficienciesOf: "a100-sxm-80g",
    usdPerGpuHour: 1.89,
    price: { provider: "RunPod", asOf: PRICES_AS_OF, source: SKYPILOT },
    provenance: { kind: "published", source: "ai-dynamo/aiconfigurator@095f58a:aic-core/src/aiconfigurator_core/systems/a100_sxm.yaml" },
  },
  {
    id: "a100-pcie-80g",
    name: "NVIDIA A100 PCIe 80GB",
    memoryBytes: 85899345920,
    memoryBytesPerSecond: 1.935e12,
    denseFlopsBf16: 312e12,
    denseFlopsFp8: null,
    link: "pcie",
    linkBytesPerSecond: 32e9,
    pcieBytesPerSecond: 32e9,
    powerWatts: 300,
    efficienciesOf: "a100-sxm-80g",
    usdPerGpuHour: 1.64,
    price: { provider: "RunPod", asOf: PRICES_AS_OF, source: SKYPILOT },
    provenance: { kind: "published", source: "ai-dynamo/aiconfigurator@095f58a:aic-core/src/aiconfigurator_core/systems/a100_pcie.yaml" },
  },
  {
    id: "h100-sxm",
    name: "NVIDIA H100 SXM5 80GB",
    memoryBytes: 85899345920,
    memoryBytesPerSecond: 3.35e12,
    denseFlopsBf16: 989e12,
    denseFlopsFp8: 1978e12,
    link: "nvlink",
    linkBytesPerSecond: 450e9,
    pcieBytesPerSecond: 64e9,
    powerWatts: 700,
    efficienciesOf: "h100-sxm",
    usdPerGpuHour: 2.95,
    price: { provider: "Nebius", asOf: PRICES_AS_OF, source: SKYPILOT },
    provenance: {
      kind: "published",
      source:
        "ai-dynamo/aiconfigurator@095f58a:aic-core/src/aiconfigurator_core/systems/h100_sxm.yaml; SemiAnalysisAI/InferenceX-app@snapshot 2026-04-03:packages/app/src/lib/gpu-specs.ts and constants.ts",
    },
  },
  {
    id: "h100-pcie",
    name: "NVIDIA H100 PCIe 80GB",
    memoryBytes: 85899345920,
    memoryBytesPerSecond: 2.0e12,
    denseFlopsBf16: 756.5e12,
    denseFlopsFp8: 1513e12,
    link: "pcie",
    linkBytesPerSecond: 64e9,
    pcieBytesPerSecond: 64e9,
    powerWatts: 350,
    efficienciesOf: "h100-sxm",
    usdPerGpuHour: 3.29,
    price: { provider: "Lambda", asOf: PRICES_AS_OF, source: SKYPILOT },
    provenance: { kind: "published", source: "ai-dynamo/aiconfigurator@095f58a:aic-core/src/aiconfigurator_core/systems/h100_pcie.yaml" },
  },
  {
    id: "h200-sxm",
    name: "NVIDIA H200 SXM 141GB",
    memoryBytes: 151397597184,
    memoryBytesPerSecond: 4.8e12,
    denseFlopsBf16: 989e12,
    denseFlopsFp8: 1978e12,
    link: "nvlink",
    linkBytesPerSecond: 450e9,
    pcieBytesPerSecond: 64e9,
    powerWatts: 700,
    efficienciesOf: "h200-sxm",
    usdPerGpuHour: 3.5,
    price: { provider: "Nebius", asOf: PRICES_AS_OF, source: SKYPILOT },
    provenance: {
      kind: "published",
      source:
        "ai-dynamo/aiconfigurator@095f58a:aic-core/src/aiconfigurator_core/systems/h200_sxm.yaml; SemiAnalysisAI/InferenceX-app@snapshot 2026-04-03:packages/app/src/lib/gpu-specs.ts and constants.ts",
    },
  },
  {
    id: "b200-sxm",
    name: "NVIDIA B200 SXM 180GB",
    memoryBytes: 193273528320,
    memoryBytesPerSecond: 7.7e12,
    denseFlopsBf16: 2250e12,
    denseFlopsFp8: 4500e12,
    link: "nvlink",
    linkBytesPerSecond: 900e9,
    pcieBytesPerSecond: 64e9,
    powerWatts: 1000,
    efficienciesOf: "b200-sxm",
    usdPerGpuHour: 5.5,
    price: { provider: "Nebius 8x", asOf: PRICES_AS_OF, source: SKYPILOT },
    provenance: {
      kind: "published",
      source:
        "ai-dynamo/aiconfigurator@095f58a:aic-core/src/aiconfigurator_core/systems/b200_sxm.yaml; SemiAnalysisAI/InferenceX-app@snapshot 2026-04-03:packages/app/src/lib/gpu-specs.ts and constants.ts",
    },
  },
  {
    id: "b300-sxm",
    name: "NVIDIA B300 SXM",
    memoryBytes: 288407053926,
    memoryBytesPerSecond: 7.75e12,
    denseFlopsBf16: 2250e12,
    denseFlopsFp8: 4500e12,
    link: "nvlink",
    linkBytesPerSecond: 900e9,
    pcieBytesPerSecond: 64e9,
    powerWatts: null,
    efficienciesOf: "b200-sxm",
    usdPerGpuHour: null,
    price: null,
    provenance: { kind: "published", source: "ai-dynamo/aiconfigurator@095f58a:aic-core/src/aiconfigurator_core/systems/b300_sxm.yaml" },
  },
  {
    id: "gb200",
    name: "NVIDIA GB200 (per GPU)",
    memoryBytes: 198642237440,
    memoryBytesPerSecond: 8.0e12,
    denseFlopsBf16: 2500e12,
    denseFlopsFp8: 5000e12,
    link: "nvlink",
    linkBytesPerSecond: 900e9,
    pcieBytesPerSecond: 64e9,
    powerWatts: null,
    efficienciesOf: "b200-sxm",
    usdPerGpuHour: null,
    price: null,
    provenance: { kind: "published", source: "ai-dynamo/aiconfigurator@095f58a:aic-core/src/aiconfigurator_core/systems/gb200.yaml" },
  },
  {
    id: "l40s",
    name: "NVIDIA L40S",
    memoryBytes: 48305799168,
    memoryBytesPerSecond: 0.864e12,
    denseFlopsBf16: 362.05e12,
    denseFlopsFp8: 733e12,
    link: "pcie",
    linkBytesPerSecond: 32e9,
    pcieBytesPerSecond: 32e9,
    powerWatts: 350,
    efficienciesOf: "l40s",
    usdPerGpuHour: 1.5484,
    price: { provider: "Nebius", asOf: PRICES_AS_OF, source: SKYPILOT },
    provenance: {
      kind: "published",
      source:
        "ai-dynamo/aiconfigurator@095f58a:aic-core/src/aiconfigurator_core/systems/l40s.yaml; inference-sim/inference-sim@f90a1e3:hardware_config.json (bf16 and bandwidth agree; its fp8 1466 is the sparse figure, see issue #816)",
    },
  },
  {
    id: "l4",
    name: "NVIDIA L4",
    memoryBytes: 25769803776,
    memoryBytesPerSecond: 0.3e12,
    denseFlopsBf16: 121e12,
    denseFlopsFp8: 242e12,
    link: "pcie",
    linkBytesPerSecond: 32e9,
    pcieBytesPerSecond: 32e9,
    powerWatts: 72,
    efficienciesOf: "l40s",
    usdPerGpuHour: null,
    price: null,
    provenance: { kind: "published", source: "ai-dynamo/aiconfigurator@095f58a:aic-core/src/aiconfigurator_core/systems/l4.yaml" },
  },
  {
    id: "a30",
    name: "NVIDIA A30",
    memoryBytes: 25769803776,
    memoryBytesPerSecond: 0.933e12,
    denseFlopsBf16: 165e12,
    denseFlopsFp8: null,
    link: "pcie",
    linkBytesPerSecond: 32e9,
    pcieBytesPerSecond: 32e9,
    powerWatts: 165,
    efficienciesOf: "a100-sxm-80g",
    usdPerGpuHour: null,
    price: null,
    provenance: { kind: "published", source: "ai-dynamo/aiconfigurator@095f58a:aic-core/src/aiconfigurator_core/systems/a30.yaml" },
  },
  {
    id: "a10g",
    name: "NVIDIA A10G",
    memoryBytes: 25769803776,
    memoryBytesPerSecond: 0.6e12,
    denseFlopsBf16: 70e12,
    denseFlopsFp8: null,
    link: "pcie",
    linkBytesPerSecond: 32e9,
    pcieBytesPerSecond: 32e9,
    powerWatts: null,
    efficienciesOf: "l40s",
    usdPerGpuHour: 1.006,
    price: { provider: "AWS g5.xlarge", asOf: "June 2026", source: "factualminds.com/main blog (June 2026)" },
    provenance: {
      kind: "published",
      source:
        "memory and bandwidth: Baseten blog on A10 against A10G. Not confirmed: bf16 70 TFLOPS dense is commonly quoted but no source read in this research confirms it. No FP8.",
    },
  },
  {
    id: "rtx-4090",
    name: "NVIDIA GeForce RTX 4090",
    memoryBytes: 25769803776,
    memoryBytesPerSecond: 1.008e12,
    denseFlopsBf16: 165.2e12,
    denseFlopsFp8: 330.3e12,
    link: "pcie",
    linkBytesPerSecond: 32e9,
    pcieBytesPerSecond: 32e9,
    powerWatts: 450,
    efficienciesOf: "l40s",
    usdPerGpuHour: null,
    price: null,
    provenance: {
      kind: "published",
      source:
        "waredb (bf16 165.2 dense with fp32 accumulate, fp8 330.3); gigagpu (fp8 660.6 with fp16 accumulate). Not confirmed: No NVLink and no PCIe peer-to-peer in the stock driver: TP traffic crosses host memory. Fitted efficiencies exist for no RTX 4090 in the data copied here.",
    },
  },
];

/** Every GPU Weir knows, by id. */
export const gpuCards: Readonly<Record<string, GpuCard>> = Object.fromEntries(CARDS.map((card) => [card.id, card]));

/** The card of a GPU id such as `h100-sxm`; undefined when there is none. */
export function gpuCard(id: string): GpuCard | undefined {
  return Object.hasOwn(gpuCards, id) ? gpuCards[id] : undefined;
}
