import { describe, expect, test } from "vitest";
import { findGpu, findModel, nearestNames } from "./aliases";
import { catalogueOf, noUserCards } from "./catalogue";
import { gpuCards } from "./gpus";
import { modelCards } from "./models";

describe("a model is found under the names its weights are published and served by", () => {
  test.each([
    ["deepseek-v3-671b", "deepseek-v3", "fp8"],
    ["deepseek-r1-671b", "deepseek-r1", "fp8"],
    ["deepseek-ai/DeepSeek-V3-0324", "deepseek-v3", "fp8"],
    ["DeepSeek-V3.1", "deepseek-v3", "fp8"],
    ["DeepSeek-R1-0528", "deepseek-r1", "fp8"],
    ["mistralai/Mixtral-8x7B-Instruct-v0.1", "mixtral-8x7b", "bf16"],
    ["mistralai/Mixtral-8x22B-Instruct-v0.1", "mixtral-8x22b", "bf16"],
    ["meta-llama/Llama-3.1-405B", "llama-3.1-405b-fp8", "bf16"],
    ["meta-llama/Llama-3.1-405B-Instruct", "llama-3.1-405b-fp8", "bf16"],
    ["meta-llama/Llama-3.1-405B-Instruct-FP8", "llama-3.1-405b-fp8", "fp8"],
    ["meta-llama/Meta-Llama-3.1-8B", "llama-3.1-8b", "bf16"],
    ["meta-llama/Meta-Llama-3.1-70B-Instruct", "llama-3.1-70b", "bf16"],
    ["nvidia/Llama-3.1-8B-Instruct-FP8", "llama-3.1-8b", "fp8"],
    ["RedHatAI/Meta-Llama-3.1-70B-Instruct-FP8-dynamic", "llama-3.1-70b", "fp8"],
    ["Qwen/Qwen2.5-72B-Instruct-GPTQ-Int4", "qwen2.5-72b", "int4"],
    ["Qwen/Qwen3-235B-A22B-Instruct-2507", "qwen3-235b-a22b", "bf16"],
    ["Qwen/Qwen3-235B-A22B-FP8", "qwen3-235b-a22b-fp8", "fp8"],
    ["LLAMA-3.1-8B", "llama-3.1-8b", "bf16"],
    ["QWEN3_32B", "qwen3-32b", "bf16"],
    ["openai/gpt-oss-120b", "gpt-oss-120b", "int4"],
  ])("%s is %s in %s", (name, id, precision) => {
    const found = findModel(name);
    expect([found?.card.id, found?.precision]).toEqual([id, precision]);
  });

  test("every card is found by its id in capitals and by its repository", () => {
    for (const { id, huggingFace } of Object.values(modelCards)) {
      expect(findModel(id.toUpperCase())?.card.id).toBe(id);
      if (huggingFace !== null) expect(findModel(huggingFace)?.card.id).toBe(id);
    }
  });

  test.each(["llama-3.1", "qwen3", "llama", "deepseek", "instruct", "", "fp8", "__proto__", "acme/llama-3.1-9b"])("%j is none", (name) => {
    expect(findModel(name)).toBeUndefined();
  });

  test("a model of one's own is found like a shipped one", () => {
    const { paramsB: _, provenance, ...llama } = modelCards["llama-3.1-8b"]!;
    const { models } = catalogueOf({
      ...noUserCards,
      models: [{ ...llama, id: "our-8b", huggingFace: null, kvBytesPerValue: 2, source: provenance.source }],
    });
    expect(findModel("acme/Our-8B-Instruct-AWQ", models)).toMatchObject({ card: { id: "our-8b" }, precision: "int4" });
  });
});

describe("a GPU is found by the names machines give it, where they leave one card only", () => {
  test.each([
    ["h100_sxm", "h100-sxm"],
    ["h100_sxm5", "h100-sxm"],
    ["NVIDIA H100 PCIe", "h100-pcie"],
    ["h200", "h200-sxm"],
    ["B200", "b200-sxm"],
    ["a100-sxm4-80gb", "a100-sxm-80g"],
    ["a100_sxm", "a100-sxm-80g"],
    ["gb200_sxm", "gb200"],
    ["rtx4090", "rtx-4090"],
    ["L40S", "l40s"],
  ])("%s is %s", (name, id) => {
    expect(findGpu(name, gpuCards)?.id).toBe(id);
  });

  test.each(["h100", "a100", "a100-40g", "a10", "l40", "h200-pcie", "rtx", "", "sxm", "mi300x"])("%j is none", (name) => {
    expect(findGpu(name, gpuCards)).toBeUndefined();
  });
});

test("names that are nearly right come first among suggestions, and far ones not at all", () => {
  expect(nearestNames("h100", Object.keys(gpuCards))).toMatch(/^; nearest: h100-(sxm|pcie), h100-(sxm|pcie)/);
  expect(nearestNames("llama-3.1-80b", Object.keys(modelCards))).toMatch(/^; nearest: llama-3\.1-(8b|70b), llama-3/);
  expect(nearestNames("mystery", Object.keys(modelCards))).toBe("");
});
