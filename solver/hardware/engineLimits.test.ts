import { expect, test } from "vitest";
import { saturationRate } from "../engine/saturation";
import { limitsOfModel, withLimits } from "./engineLimits";
import { gpuCards } from "./gpus";
import { modelCards } from "./models";
import { replicaModel } from "./replicaShapes";

test("a model's own limits go before those of all models, field by field", () => {
  const all = [
    { maxSequences: 64, maxBatchedTokens: 4096, source: "operator" },
    { model: "a", maxSequences: 32, source: "engine" },
  ] as const;
  expect(limitsOfModel([...all], "a")).toEqual({ maxSequences: 32, maxBatchedTokens: 4096 });
  expect(limitsOfModel([...all], "b")).toEqual({ maxSequences: 64, maxBatchedTokens: 4096 });
  expect(limitsOfModel(undefined, "a")).toEqual({});
});

test("an engine that runs few requests at once is expected to do less", () => {
  const [model, gpu] = [modelCards["llama-3.1-8b"], gpuCards["h100-sxm"]];
  if (model === undefined || gpu === undefined) throw new Error("no cards");
  const rate = (maxSequences?: number): number => {
    const fit = replicaModel(model, gpu, { tp: 1, pp: 1 });
    if (!fit.fits) throw new Error(fit.reason);
    const [prompts, answers] = [new Int32Array(2000).fill(200), new Int32Array(2000).fill(100)];
    return saturationRate(withLimits(fit.replica, { maxSequences }), { inputTokens: prompts, outputTokens: answers }, 2000) ?? Number.NaN;
  };
  expect(rate(32)).toBeLessThan(0.5 * rate());
  expect(rate(256)).toBe(rate());
});

test("a step of fewer tokens than sequences still leaves the simulator a token to prefill with", () => {
  const [model, gpu] = [modelCards["llama-3.1-8b"], gpuCards["h100-sxm"]];
  const fit = model && gpu ? replicaModel(model, gpu, { tp: 1, pp: 1 }) : undefined;
  if (!fit?.fits) throw new Error("no fit");
  expect(withLimits(fit.replica, { maxBatchedTokens: 128 })).toMatchObject({ maxSequences: 127, maxBatchedTokens: 128 });
  expect(withLimits(fit.replica, { maxSequences: 32, maxBatchedTokens: 32 })).toMatchObject({ maxSequences: 31, maxBatchedTokens: 32 });
});
