import { readdirSync, readFileSync } from "node:fs";
import { gunzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { file, needs } from "@/scripts/needs.mjs";
import { kernelRates } from "../hardware/gpuKernels";
import { gpuCards } from "../hardware/gpus";
import { kernelCoefficients, type MeasuredGpu } from "../hardware/kernelCoefficients";
import { allReduceSeconds, gemmSeconds } from "../hardware/kernels";
import { bytesPerWeight } from "../hardware/modelCard";
import { quantile } from "../numeric/quantile";
import { type AttentionTime, decodeAttentionTime, prefillAttentionTime } from "./kernelFit";

const FOLDER = "../shared/data/engines/kernels";

const GPUS: Readonly<Record<string, MeasuredGpu>> = {
  a100_sxm: "a100-sxm-80g",
  h100_sxm: "h100-sxm",
  h200_sxm: "h200-sxm",
  l40s: "l40s",
};

type Row = Readonly<Record<string, string>>;

/** Rows of the only table of a GPU whose name contains `operator`. */
function table(gpu: string, operator: string): Row[] {
  const file = readdirSync(FOLDER).find((name) => name.startsWith(gpu) && name.includes(operator));
  if (file === undefined) throw new Error(`no table of ${operator} for ${gpu}`);
  const [header = [], ...lines] = gunzipSync(readFileSync(`${FOLDER}/${file}`))
    .toString()
    .trim()
    .split(/\r?\n/)
    .map((line) => line.split(","));
  return lines.map((fields) => Object.fromEntries(header.map((name, at) => [name, fields[at] ?? ""])));
}

const number = (row: Row, column: string): number => Number(row[column]);

/** Median of |predicted / measured - 1|, measured in milliseconds. */
const medianError = (rows: readonly Row[], predict: (row: Row) => number): number =>
  quantile(
    rows.map((row) => Math.abs((1000 * predict(row)) / number(row, "latency") - 1)),
    0.5,
  );

for (const [name, id] of Object.entries(GPUS)) {
  const gpu = gpuCards[id]!;
  const coefficients = kernelCoefficients[id];

  test(`half of all GEMMs measured on the ${id} lie within 20 %`, needs(file(FOLDER)), () => {
    const rows = table(name, "gemm");
    for (const [precision, dtype] of [
      ["bf16", "bfloat16"],
      ["fp8", "fp8"],
    ] as const) {
      const fitted = coefficients.gemm[precision];
      const measured = rows.filter((row) => row.gemm_dtype === dtype);
      if (fitted === null) {
        expect(measured).toEqual([]);
        continue;
      }
      expect(measured.length).toBeGreaterThan(1000);
      const error = medianError(measured, (row) =>
        gemmSeconds(fitted, kernelRates(gpu, bytesPerWeight[precision]), { inFeatures: number(row, "k"), outFeatures: number(row, "n") })(
          number(row, "m"),
        ),
      );
      expect(error, precision).toBeLessThan(0.2);
      expect(error, precision).toBeCloseTo(fitted.medianError, 2);
    }
  });

  test(`half of all attention kernels measured on the ${id} lie within 25 %`, needs(file(FOLDER)), () => {
    for (const [precision, dtype] of [
      ["bf16", "bfloat16"],
      ["fp8", "fp8"],
    ] as const) {
      // Windowed attention is another kernel.
      const of = (operator: string): Row[] =>
        table(name, operator).filter((row) => row.kv_cache_dtype === dtype && ["", "0", undefined].includes(row.window_size));
      const [decode, prefill] = [coefficients.decodeAttention[precision], coefficients.prefillAttention[precision]];
      if (decode === null || prefill === null) {
        expect(of("generation_attention")).toEqual([]);
        continue;
      }
      const kvBytesPerValue = precision === "fp8" ? 1 : 2;
      const timeOf = (row: Row, tokens: number): Omit<AttentionTime, "seconds"> => ({
        sequences: number(row, "batch_size"),
        tokens,
        heads: number(row, "num_heads"),
        kvHeads: number(row, "num_key_value_heads"),
        headDim: number(row, "head_dim"),
        kvBytesPerValue,
      });
      const decodeError = medianError(of("generation_attention"), (row) =>
        decodeAttentionTime(decode, gpu, timeOf(row, number(row, "step") + 1)),
      );
      const prefillError = medianError(of("context_attention"), (row) =>
        prefillAttentionTime(prefill, gpu, timeOf(row, number(row, "isl"))),
      );
      expect([decodeError, prefillError].map((error) => error.toFixed(2))).toEqual(
        [decode.medianError, prefill.medianError].map((error) => error.toFixed(2)),
      );
      expect(decodeError, `decode ${precision}`).toBeLessThan(0.25);
      expect(prefillError, `prefill ${precision}`).toBeLessThan(0.25);
    }
  });

  test(`half of all all-reduces measured on the ${id} lie within 25 %`, needs(file(FOLDER)), () => {
    const rows = table(name, "custom_allreduce").filter((row) => row.backend === "vllm_graph");
    for (const gpus of [2, 4, 8] as const) {
      const measured = rows.filter((row) => number(row, "num_gpus") === gpus);
      expect(measured.length).toBeGreaterThan(10);
      const error = medianError(measured, (row) =>
        allReduceSeconds(coefficients.allReduce[gpus], gpu.linkBytesPerSecond, gpus, 2 * number(row, "message_size")),
      );
      expect(error, `${gpus} GPUs`).toBeLessThan(0.25);
    }
  });
}
