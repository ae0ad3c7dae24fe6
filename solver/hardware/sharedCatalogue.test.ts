import { existsSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { file, needs } from "@/scripts/needs.mjs";
import { type Architecture, linearParams, parameterCount } from "./architecture";
import { gpuCards } from "./gpus";
import { kvBytesPerToken } from "./modelCard";
import { modelCards } from "./models";

interface Catalogue {
  readonly gpus: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  readonly models: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
}

const FILE = "../shared/data/engines/catalog.json";
const present = existsSync(FILE);
const catalogue: Catalogue = present ? JSON.parse(readFileSync(FILE, "utf8")) : { gpus: {}, models: {} };

/** The catalogue appends the size to two names. */
const cardOf = (id: string) => modelCards[id] ?? modelCards[id.replace(/-671b$/, "")];

test("every GPU of the collected catalogue has a card with its memory, bandwidth, dense FLOPS and links", needs(file(FILE)), () => {
  for (const [id, gpu] of Object.entries(catalogue.gpus)) {
    const card = gpuCards[id];
    const inTera = (perSecond: number | null | undefined) => perSecond && perSecond / 1e12;
    expect(card?.memoryBytes, id).toBe(gpu.memory_bytes);
    expect(inTera(card?.memoryBytesPerSecond), id).toBeCloseTo(Number(gpu.memory_bw_tb_s), 6);
    expect(inTera(card?.denseFlopsBf16), id).toBeCloseTo(Number(gpu.dense_tflops_bf16), 6);
    expect(inTera(card?.denseFlopsFp8) ?? null, id).toBe(gpu.dense_tflops_fp8);
    expect(card?.link, id).toBe(gpu.intra_node_link);
    expect(card?.linkBytesPerSecond, id).toBe(Number(gpu.intra_node_gb_s_per_direction) * 1e9);
    const listed = (gpu.prices as readonly { usd_per_gpu_hour: number }[]).map((price) => price.usd_per_gpu_hour);
    expect(card?.usdPerGpuHour === null ? listed.length === 0 : listed.includes(card?.usdPerGpuHour ?? Number.NaN), id).toBe(true);
  }
});

test("every model of the collected catalogue has a card with its parameters, cache and context", needs(file(FILE)), () => {
  for (const [id, model] of Object.entries(catalogue.models)) {
    const card = cardOf(id);
    const architecture = card?.architecture as Architecture;
    expect(card?.huggingFace, id).toBe(model.hf_id);
    expect(card?.maxContextTokens, id).toBe(model.max_context);
    expect(card && kvBytesPerToken({ ...card, kvBytesPerValue: 2 }), id).toBe(model.kv_bytes_per_token_bf16);
    if (model.kind !== "dense") continue;
    expect(parameterCount(architecture), id).toBe(model.params_computed);
    expect(linearParams(architecture), id).toBe(model.linear_params);
  }
});
