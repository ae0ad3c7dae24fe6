import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { afterEach, beforeEach, expect, test } from "vitest";
import { gpuCards } from "@/solver/hardware/gpus";
import { importKernels } from "./importKernels";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "weir-kernels-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

const put = (name: string, lines: readonly string[]): void => {
  const text = Buffer.from(lines.join("\n"));
  writeFileSync(join(folder, name), name.endsWith(".gz") ? gzipSync(text) : text);
};

test("tables are known by their names, gzipped or not, and become seconds, tokens and bytes", async () => {
  put("h100_sxm_gemm_vllm_1_gemm.csv.gz", ["gemm_dtype,m,n,k,latency", "bfloat16,8,20,30,0.5", "fp8,8,20,30,0.25", "fp8_block,8,20,30,9"]);
  put("a100_sxm_attention_generation_attention.csv", [
    "batch_size,isl,num_heads,num_key_value_heads,head_dim,kv_cache_dtype,step,window_size,latency",
    "4,1,32,8,128,bfloat16,1023,0,0.02",
    "4,1,32,8,128,bfloat16,1023,128,0.01",
  ]);
  put("l40s_comm_custom_allreduce.csv", [
    "kernel_source,num_gpus,message_size,latency",
    "vLLM_custom_graph,2,128,0.005",
    "vLLM_custom_eager,2,128,0.02",
  ]);
  put("b200_sxm_moe_vllm_1_moe.csv", [
    "moe_dtype,num_tokens,hidden_size,inter_size,topk,num_experts,moe_tp_size,moe_ep_size,distribution,latency",
    "bfloat16,16,4096,1536,8,128,2,1,power_law_1.01,0.5",
    "fp8_block,16,4096,1536,8,128,1,1,power_law_1.01,0.4",
    "bfloat16,16,4096,1536,8,128,1,8,power_law_1.01,0.3",
    "bfloat16,16,4096,1536,8,128,1,1,balanced,0.3",
  ]);
  put("mystery9000_gemm.csv", ["nothing", "1"]);
  const read = await importKernels(folder, gpuCards);
  if (!read.ok) throw new Error(read.message);
  expect(read.tables.map(({ gpu, operator, times }) => ({ gpu: gpu.id, operator, times }))).toEqual([
    {
      gpu: "a100-sxm-80g",
      operator: "decode attention",
      times: { bf16: [{ sequences: 4, tokens: 1024, heads: 32, kvHeads: 8, headDim: 128, kvBytesPerValue: 2, seconds: 2e-5 }], fp8: [] },
    },
    {
      gpu: "b200-sxm",
      operator: "experts",
      times: {
        bf16: [{ rows: 16, hidden: 4096, ffn: 768, experts: 128, expertsPerToken: 8, seconds: 5e-4 }],
        fp8: [{ rows: 16, hidden: 4096, ffn: 1536, experts: 128, expertsPerToken: 8, seconds: 4e-4 }],
      },
    },
    {
      gpu: "h100-sxm",
      operator: "gemm",
      times: {
        bf16: [{ rows: 8, inFeatures: 30, outFeatures: 20, seconds: 5e-4 }],
        fp8: [{ rows: 8, inFeatures: 30, outFeatures: 20, seconds: 2.5e-4 }],
      },
    },
    { gpu: "l40s", operator: "all-reduce", times: [{ gpus: 2, bytes: 256, seconds: 5e-6 }] },
  ]);
});

test("a wrong number is refused with file, line and field, a folder without tables with what a name looks like", async () => {
  expect(await importKernels(folder, gpuCards)).toMatchObject({ ok: false, message: expect.stringContaining("h100_sxm_gemm.csv") });
  put("h100_sxm_gemm.csv", ["gemm_dtype,m,n,k,latency", "bfloat16,8,20,30,-1"]);
  const read = await importKernels(folder, gpuCards);
  expect(read).toMatchObject({ ok: false, message: expect.stringMatching(/h100_sxm_gemm\.csv line 2: latency is "-1"/) });
});
