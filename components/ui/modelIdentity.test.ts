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

  it("never gives two models on one page the same hue while there are hues left", () => {
    const models = ["a-7b", "b-7b", "c-8b", "d-8b", "x", "y", "z", "w"];
    const hues = new Set([...identifyModels(models).values()].map((identity) => identity.hue));
    expect(hues.size).toBe(8);
  });
});
