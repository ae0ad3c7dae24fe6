import { expect, test } from "vitest";
import { type UserCards, userCardsSchema } from "./cardSchema";
import { cardOf, catalogueOf, noUserCards, readUserCards } from "./catalogue";
import { gpuCards } from "./gpus";
import { memoryFit } from "./memoryFit";
import { modelCards } from "./models";

const { provenance: _, paramsB: __, ...shipped } = modelCards["mixtral-8x7b"]!;
const ownModel = { ...shipped, id: "my-mixtral", source: "config.json of our fine-tune" };
const ownGpu = {
  id: "h20",
  name: "NVIDIA H20",
  memoryBytes: 96e9,
  memoryBytesPerSecond: 4e12,
  denseFlopsBf16: 148e12,
  denseFlopsFp8: 296e12,
  link: "nvlink",
  linkBytesPerSecond: 450e9,
  pcieBytesPerSecond: 64e9,
  efficienciesOf: "h100-sxm",
  source: "data sheet",
} as const;

const own = (cards: Partial<Record<keyof UserCards, unknown>>): UserCards => userCardsSchema.parse(cards);
const message = (cards: object | string): string => {
  const read = readUserCards(typeof cards === "string" ? cards : JSON.stringify(cards), "cards.json");
  return read.ok ? "it was read" : read.message;
};

test("without cards of the user's own the catalogue is the shipped one", () => {
  expect(catalogueOf(noUserCards)).toEqual({ models: modelCards, gpus: gpuCards });
});

test("a user's model and GPU stand beside the shipped ones, with what is computed from them, and can be planned with", () => {
  const { models, gpus } = catalogueOf(own({ models: [ownModel], gpus: [ownGpu] }));
  const [model, gpu] = [cardOf(models, "my-mixtral"), cardOf(gpus, "h20")];
  expect(model?.paramsB).toBeCloseTo(46.7, 1);
  expect(model?.provenance.source).toBe("config.json of our fine-tune");
  expect(model && gpu && memoryFit(model, gpu, { tp: 2, pp: 1 }).fits).toBe(true);
  expect(Object.keys(models)).toHaveLength(Object.keys(modelCards).length + 1);
  expect(cardOf(models, "constructor")).toBeUndefined();
});

test("a price of the user's own takes the place of the list price, with its day, on shipped and own GPUs alike", () => {
  const price = { usdPerGpuHour: 2.2, asOf: "2026-11-01" };
  const { gpus } = catalogueOf(own({ gpus: [ownGpu], prices: { "h100-sxm": price, h20: price } }));
  for (const id of ["h100-sxm", "h20"])
    expect(gpus[id]).toMatchObject({ usdPerGpuHour: 2.2, price: { provider: "yours", asOf: "2026-11-01" } });
  expect(gpus["h200-sxm"]).toBe(gpuCards["h200-sxm"]);
});

test("a file that cannot be used is refused in one sentence with the file and the field", () => {
  expect(message("{")).toMatch(/^cards\.json is no JSON: /);
  expect(message({ models: [{ ...ownModel, id: "mixtral-8x7b" }] })).toBe(
    "cards.json: models.0.id: a shipped model has this id, give another.",
  );
  expect(message({ models: [ownModel, ownModel] })).toBe("cards.json: models: two models have the same id.");
  expect(message({ gpus: [{ ...ownGpu, memoryBytes: -1 }] })).toMatch(/^cards\.json: gpus\.0\.memoryBytes: /);
  expect(message({ prices: { "h100-sxm": { usdPerGpuHour: 2, asOf: "yesterday" } } })).toMatch(/^cards\.json: prices\.h100-sxm\.asOf: /);
  expect(message({ prices: { h2: { usdPerGpuHour: 2, asOf: "2026-11-01" } } })).toBe(
    "cards.json: prices.h2: there is no card of this GPU.",
  );
  expect(message({ model: [] })).toMatch(/^cards\.json: .*model/);
});

test("a card that no model can have is refused: more experts a token than there are, dense layers in every place", () => {
  const moe = ownModel.architecture.feedForward;
  const withMoe = (change: object) => ({
    models: [{ ...ownModel, architecture: { ...ownModel.architecture, feedForward: { ...moe, ...change } } }],
  });
  expect(message(withMoe({ expertsPerToken: 9 }))).toContain("feedForward.expertsPerToken: a token cannot pass 9 of 8 experts");
  expect(message(withMoe({ denseLayers: { count: 32, ffn: 8 } }))).toContain("leave none for experts");
  expect(message(withMoe({ ffn: 8 }))).toMatch(/feedForward/);
});
