import { expect, test } from "vitest";
import { modelAliases, resolveModel } from "./aliases";
import { activeParams, linearParams, outputParams } from "./architecture";
import { atPrecision, kvBytesPerToken, weightBytes } from "./modelCard";
import { modelCard, modelCards } from "./models";

const cards = Object.values(modelCards);

test("computed parameter counts are within 1.5 % of the published ones", () => {
  const wrong = cards.filter((card) => card.publishedParamsB !== null && Math.abs(card.paramsB / card.publishedParamsB - 1) > 0.015);
  expect(wrong.map((card) => `${card.id}: ${card.paramsB} computed, ${card.publishedParamsB} published`)).toEqual([]);
});

test("mixtures have the active parameters their makers state", () => {
  const statedB = {
    "mixtral-8x7b": 12.9,
    "mixtral-8x22b": 39,
    "deepseek-v3": 37,
    "qwen3-30b-a3b": 3.3,
    "qwen3-235b-a22b": 22,
    "kimi-k2": 32,
  };
  for (const [id, stated] of Object.entries(statedB)) {
    expect(Math.abs(activeParams(modelCards[id]!.architecture) / 1e9 / stated - 1), id).toBeLessThan(0.03);
  }
  // Its publisher counts the output projection, not the input embedding (arXiv 2508.10925: 5.1 billion).
  const oss = modelCards["gpt-oss-120b"]!.architecture;
  expect((activeParams(oss) - outputParams(oss)) / 1e9).toBeCloseTo(5.1, 1);
});

test("gpt-oss keeps all but its experts in bf16, and so weighs what its checkpoint does", () => {
  expect(weightBytes(modelCards["gpt-oss-20b"]!) / 1e9).toBeCloseTo(13.7, 0);
  const everythingSmall = { ...modelCards["gpt-oss-20b"]!, quantized: "linear-layers" } as const;
  expect(weightBytes(everythingSmall)).toBeLessThan(weightBytes(modelCards["gpt-oss-20b"]!));
});

test("at another precision the linear layers shrink, the embeddings stay, and the cache keeps its width unless told", () => {
  const llama = modelCards["llama-3.1-8b"]!;
  const { architecture } = llama;
  const fp8 = atPrecision(llama, "fp8");
  expect(weightBytes(llama) - weightBytes(fp8)).toBe(linearParams(architecture));
  expect(weightBytes(atPrecision(llama, "int4")) / 1e9).toBeCloseTo(5.8, 1);
  expect(kvBytesPerToken(fp8)).toBe(kvBytesPerToken(llama));
  expect(kvBytesPerToken(atPrecision(llama, "fp8", 1))).toBe(kvBytesPerToken(llama) / 2);
});

test("every alias leads to a card, and a card's own id is a name too", () => {
  for (const [name, id] of Object.entries(modelAliases)) {
    expect(modelCard(id), `${name} -> ${id}`).toBeDefined();
    expect(resolveModel(name)).toBe(id);
  }
  expect(resolveModel("llama-3.1-8b")).toBe("llama-3.1-8b");
});

test("an unknown name, a name from Object's prototype and an extra name without a card resolve to nothing", () => {
  expect(resolveModel("My-Model")).toBeUndefined();
  expect(resolveModel("constructor")).toBeUndefined();
  expect(resolveModel("My-Model", { "My-Model": "no-such-card" })).toBeUndefined();
});

test("a user's own name wins over the shipped map", () => {
  expect(resolveModel("gemma-2-2b-it", { "gemma-2-2b-it": "gemma-2b" })).toBe("gemma-2b");
});

test("weights and KV bytes follow the published configuration", () => {
  const llama = modelCards["llama-3.1-8b"]!;
  expect(weightBytes(llama)).toBe(2 * 8_030_261_248);
  expect(kvBytesPerToken(llama)).toBe(131_072);
  // One byte for each weight of the layers, two for embeddings and output projection.
  expect(weightBytes(modelCards["llama-3.1-405b-fp8"]!) / 1e9).toBeCloseTo(405.85 + 2 * 2.1, 0);
});

test("closed architectures say that they are extrapolated, and from what", () => {
  for (const id of ["reka-edge", "reka-flash", "reka-core"]) {
    expect(modelCard(id)?.provenance.kind).toBe("extrapolated");
    expect(modelCard(id)?.provenance.source).toMatch(/extrapolated from Llama-3/);
  }
});
