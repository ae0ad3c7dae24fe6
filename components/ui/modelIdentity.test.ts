import { describe, expect, it } from "vitest";
import { identifyModels, sizeInName } from "./modelIdentity";

describe("modelIdentity", () => {
  it("reads the size in a model's name", () => {
    expect(["llama-3.1-405b-fp8", "gemma-2-2b", "yi-1.5-9b", "qwen2.5-0.5b", "reka-core"].map(sizeInName)).toEqual([405, 2, 9, 0.5, null]);
  });

  it("keeps a model's letter whichever ladder it stands in", () => {
    const alone = identifyModels(["llama-3.1-70b"]).get("llama-3.1-70b");
    const inLadder = identifyModels(["llama-3.1-8b", "llama-3.1-70b", "llama-3.1-405b-fp8"]).get("llama-3.1-70b");
    expect(alone).toEqual(inLadder);
  });

  it("gives every model a mark and a hue of its own, also where there are more than eight", () => {
    const models = Array.from({ length: 17 }, (_, at) => `expert-${at}`);
    const identities = [...identifyModels([...models, ...models]).values()];
    expect(new Set(identities.map(({ letter }) => letter)).size).toBe(17);
    expect(new Set(identities.map(({ hue }) => hue)).size).toBe(17);
    expect([identities[0], identities[8], identities[16]].map((each) => each?.letter)).toEqual(["H", "H2", "H3"]);
    expect(identities[8]?.hue).toBe("color-mix(in oklab, var(--model-h) 55%, var(--ink))");
    expect(identifyModels(["x-8b", ...models]).get("x-8b")?.letter).toBe("C");
  });

  it("never gives two models on one page the same hue while there are hues left", () => {
    const models = ["a-7b", "b-7b", "c-8b", "d-8b", "x", "y", "z", "w"];
    const hues = new Set([...identifyModels(models).values()].map((identity) => identity.hue));
    expect(hues.size).toBe(8);
  });
});
