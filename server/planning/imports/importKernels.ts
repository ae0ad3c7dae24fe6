import { createReadStream } from "node:fs";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { createGunzip } from "node:zlib";
import type { Outcome } from "@/server/contracts/studio";
import type { AllReduceTime, AttentionTime, ExpertsTime, GemmTime } from "@/solver/calibration/kernelFit";
import type { GpuCard } from "@/solver/hardware/gpus";
import { readCsv } from "./readCsv";

type CachePrecision = "bf16" | "fp8";

/** Measured times of one table, in the form for the fits. */
export type KernelTable = { readonly file: string; readonly gpu: GpuCard } & (
  | { readonly operator: "gemm"; readonly times: Readonly<Record<CachePrecision, readonly GemmTime[]>> }
  | { readonly operator: "experts"; readonly times: Readonly<Record<CachePrecision, readonly ExpertsTime[]>> }
  | {
      readonly operator: "prefill attention" | "decode attention";
      readonly times: Readonly<Record<CachePrecision, readonly AttentionTime[]>>;
    }
  | { readonly operator: "all-reduce"; readonly times: readonly AllReduceTime[] }
);

export type ImportedKernels = Outcome<{ readonly tables: readonly KernelTable[] }>;

/** Ends of file names, before `.csv` or `.csv.gz`. */
const OPERATORS = {
  _gemm: "gemm",
  _moe: "experts",
  _context_attention: "prefill attention",
  _generation_attention: "decode attention",
  _custom_allreduce: "all-reduce",
} as const;

const NEEDED = {
  gemm: ["gemm_dtype", "m", "n", "k", "latency"],
  experts: [
    "moe_dtype",
    "num_tokens",
    "hidden_size",
    "inter_size",
    "topk",
    "num_experts",
    "moe_tp_size",
    "moe_ep_size",
    "distribution",
    "latency",
  ],
  "prefill attention": ["batch_size", "isl", "num_heads", "num_key_value_heads", "head_dim", "kv_cache_dtype", "latency"],
  "decode attention": ["batch_size", "isl", "num_heads", "num_key_value_heads", "head_dim", "kv_cache_dtype", "step", "latency"],
  "all-reduce": ["num_gpus", "message_size", "latency"],
} as const;

const PRECISIONS: Readonly<Record<string, CachePrecision>> = { bfloat16: "bf16", float16: "bf16", fp8: "fp8" };

/** Experts in fp8 are measured in the blockwise format only. */
const EXPERT_PRECISIONS: Readonly<Record<string, CachePrecision>> = { ...PRECISIONS, fp8_block: "fp8" };

/** Distribution of tokens over experts in the rows that are fitted: mildly uneven, as in service. */
const DISTRIBUTION = "power_law_1.01";

/** bf16 elements, the unit of all-reduce message sizes. */
const BYTES_PER_ELEMENT = 2;

/**
 * Reads the operator tables of a folder in the format of ai-dynamo/aiconfigurator (`<gpu>_..._<operator>.csv`, also gzipped; latencies in
 * ms): GEMMs and whole experts in bf16 and fp8, attention without sliding windows, all-reduces inside a CUDA graph. Files of other GPUs and
 * operators are ignored.
 *
 * @returns the tables by file name, or one sentence with file, line and field.
 */
export async function importKernels(folder: string, gpus: Readonly<Record<string, GpuCard>>): Promise<ImportedKernels> {
  const files = await readdir(folder).catch(() => null);
  if (files === null) return { ok: false, message: `${folder} is no folder that can be read.` };
  const tables: KernelTable[] = [];
  for (const file of files.sort()) {
    const stem = file.replace(/\.csv(\.gz)?$/, "");
    const end = Object.keys(OPERATORS).find((one): one is keyof typeof OPERATORS => stem.endsWith(one));
    const gpu = gpuOf(file, gpus);
    if (stem === file || end === undefined || gpu === undefined) continue;
    const read = await readTable(join(folder, file), OPERATORS[end]);
    if (!read.ok) return read;
    tables.push({ file, gpu, ...tableOf(OPERATORS[end], read.records) });
  }
  if (tables.length > 0) return { ok: true, tables };
  return { ok: false, message: `${folder} has no table of a known GPU's operators, such as h100_sxm_gemm.csv.` };
}

const underscored = (id: string): string => id.replaceAll("-", "_");

/** The card named at the start of a file's name; `a100_sxm` there is the 80 GB one. */
function gpuOf(file: string, gpus: Readonly<Record<string, GpuCard>>): GpuCard | undefined {
  return (
    Object.values(gpus).find(({ id }) => file.startsWith(`${underscored(id)}_`)) ??
    Object.values(gpus).find(({ id }) => file.startsWith(`${underscored(id).replace(/_80g$/, "")}_`))
  );
}

type KernelRecord = Readonly<Record<string, string>>;

async function readTable(path: string, operator: keyof typeof NEEDED): Promise<Outcome<{ readonly records: readonly KernelRecord[] }>> {
  const raw = createReadStream(path);
  const records: KernelRecord[] = [];
  let names: readonly string[] = [];
  const numbers = NEEDED[operator].filter((name) => !name.endsWith("dtype") && name !== "distribution");
  const read = await readCsv(
    { name: path, stream: path.endsWith(".gz") ? raw.pipe(createGunzip()) : raw },
    {
      header(found) {
        names = found;
        const missing = NEEDED[operator].find((name) => !found.includes(name));
        return missing === undefined ? null : `${missing}: no such column; a table of ${operator} needs it`;
      },
      row(cells) {
        const record = Object.fromEntries(names.map((name, index) => [name, cells[index] ?? ""]));
        const wrong = numbers.find((name) => !(Number(record[name]) > 0));
        if (wrong !== undefined) return `${wrong} is "${record[wrong]}"; write a number above 0`;
        records.push(record);
        return null;
      },
    },
  );
  return read.ok ? { ok: true, records } : read;
}

function tableOf(operator: keyof typeof NEEDED, records: readonly KernelRecord[]) {
  if (operator === "gemm") {
    const times = (wanted: CachePrecision): GemmTime[] =>
      records
        .filter((record) => PRECISIONS[record.gemm_dtype ?? ""] === wanted)
        .map((record) => ({
          rows: Number(record.m),
          inFeatures: Number(record.k),
          outFeatures: Number(record.n),
          seconds: Number(record.latency) / 1000,
        }));
    return { operator, times: { bf16: times("bf16"), fp8: times("fp8") } };
  }
  if (operator === "experts") {
    const whole = records.filter((record) => Number(record.moe_ep_size) === 1 && record.distribution === DISTRIBUTION);
    const times = (wanted: CachePrecision): ExpertsTime[] =>
      whole
        .filter((record) => EXPERT_PRECISIONS[record.moe_dtype ?? ""] === wanted)
        .map((record) => ({
          rows: Number(record.num_tokens),
          hidden: Number(record.hidden_size),
          ffn: Number(record.inter_size) / Number(record.moe_tp_size),
          experts: Number(record.num_experts),
          expertsPerToken: Number(record.topk),
          seconds: Number(record.latency) / 1000,
        }));
    return { operator, times: { bf16: times("bf16"), fp8: times("fp8") } };
  }
  if (operator === "all-reduce") {
    const inGraph = records.filter((record) => (record.kernel_source ?? "graph").includes("graph"));
    const times = inGraph.map((record) => ({
      gpus: Number(record.num_gpus),
      bytes: Number(record.message_size) * BYTES_PER_ELEMENT,
      seconds: Number(record.latency) / 1000,
    }));
    return { operator, times };
  }
  const times = (wanted: CachePrecision): AttentionTime[] =>
    records
      .filter((record) => PRECISIONS[record.kv_cache_dtype ?? ""] === wanted && Number(record.window_size ?? 0) <= 0)
      .map((record) => ({
        sequences: Number(record.batch_size),
        tokens: Number(record.isl) + (operator === "decode attention" ? Number(record.step) : 0),
        heads: Number(record.num_heads),
        kvHeads: Number(record.num_key_value_heads),
        headDim: Number(record.head_dim),
        kvBytesPerValue: wanted === "fp8" ? 1 : 2,
        seconds: Number(record.latency) / 1000,
      }));
  return { operator, times: { bf16: times("bf16"), fp8: times("fp8") } };
}
