import { describe, expect, it } from "vitest";
import { gpuCards } from "@/solver/hardware/gpus";
import { modelCards } from "@/solver/hardware/models";
import { writeView } from "../url/useUrlView";
import { type CardsView, cardsCodec, defaultView } from "./cardsCodec";
import { architectureText, findCards, fitOf, paramsText } from "./prepareCards";

const models = Object.values(modelCards).map((card) => ({ ...card, own: card.id === "yi-1.5-9b" }));
const gpus = Object.values(gpuCards).map((card) => ({ ...card, own: false, ownPrice: false }));
const model = (id: string) => modelCards[id]!;

describe("the address of the Cards page", () => {
  const view: CardsView = {
    find: "qwen3 moe",
    add: "gpu",
    model: "deepseek-v3",
    gpu: "h200-sxm",
    tp: 8,
    pp: 2,
    precision: "int4",
    kv: "fp8",
    memory: 85,
  };

  it("comes back as it was written, and holds nothing that is as usual", () => {
    expect(cardsCodec.parse(writeView(cardsCodec, new URLSearchParams(), view))).toEqual(view);
    expect(writeView(cardsCodec, new URLSearchParams("cluster=a"), defaultView).toString()).toBe("cluster=a");
  });

  it("takes the usual for what nobody can have meant", () => {
    expect(cardsCodec.parse(new URLSearchParams("tp=0&memory=900&precision=fp7&add=door"))).toEqual(defaultView);
  });
});

describe("finding cards", () => {
  it("finds by every word, in id, name and source, one's own first", () => {
    expect(findCards(models, "QWEN3 coder").map(({ id }) => id)).toEqual(["qwen3-coder-480b-a35b"]);
    expect(findCards(gpus, "nvidia l4").map(({ id }) => id)).toEqual(["l40s", "l4"]);
    expect(findCards(models, "")[0]?.id).toBe("yi-1.5-9b");
    expect(findCards(models, "no such card")).toEqual([]);
  });
});

describe("a card in words", () => {
  it("names active parameters of mixtures only", () => {
    expect(paramsText(model("llama-3.1-8b"))).toBe("8.03\u00a0B");
    expect(paramsText(model("deepseek-v3"))).toBe("671\u00a0B, 37.6\u00a0B active");
  });

  it("says how it attends and feeds forward", () => {
    expect(architectureText(model("gpt-oss-20b").architecture)).toEqual({
      attention: "64 heads over 8 KV heads of 64; 128 tokens of window in 12 of 24 layers",
      feedForward: "4 of 32 experts, each 2,880 wide",
    });
    expect(architectureText(model("deepseek-v3").architecture)).toEqual({
      attention: "latent (MLA), 128 heads over a latent of 512 + 64",
      feedForward: "8 of 256 experts, each 2,048 wide; 1 shared; dense in 3 layers, 18,432 wide",
    });
  });
});

describe("the fit checker", () => {
  const ask = (change: Partial<CardsView>) => fitOf({ models, gpus }, { ...defaultView, ...change });
  const kvTokens = (change: Partial<CardsView>) => {
    const fit = ask(change);
    return fit?.fits ? fit.kvTokens : 0;
  };

  it("answers for the precision, cache and memory share asked for", () => {
    expect(kvTokens({ kv: "fp8" }) / kvTokens({})).toBeCloseTo(2, 3);
    expect(kvTokens({ precision: "fp8" })).toBeGreaterThan(kvTokens({}));
    expect(kvTokens({ memory: 50 })).toBeLessThan(kvTokens({}));
    expect(ask({ model: "llama-3.1-70b" })).toMatchObject({ fits: false });
    expect(ask({ model: "llama-3.1-70b", precision: "int4" })).toMatchObject({ fits: true });
  });

  it("has no answer for a card that is not there", () => {
    expect(ask({ model: "gone" })).toBeNull();
  });
});
