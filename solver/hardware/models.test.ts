import { expect, test } from "vitest";
import { modelAliases, resolveModel } from "./aliases";
import { kvBytesPerToken, weightBytes } from "./modelCard";
import { modelCard, modelCards } from "./models";

const cards = Object.values(modelCards);

test("computed parameter counts are within 1 % of the published ones", () => {
  const wrong = cards.filter((card) => card.publishedParamsB !== null && Math.abs(card.paramsB / card.publishedParamsB - 1) > 0.01);
  expect(wrong.map((card) => `${card.id}: ${card.paramsB} computed, ${card.publishedParamsB} published`)).toEqual([]);
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
