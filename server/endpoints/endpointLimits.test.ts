import { expect, it } from "vitest";
import type { Endpoint } from "./connection";
import { endpointLimits } from "./endpointLimits";

const endpoint = (model: string, limits?: Endpoint["limits"]): Endpoint => ({
  ...{ name: "e", url: "http://e:8000", model, gpu: "h100-sxm", tp: 1, pp: 1, precision: "bf16", guessed: [] },
  ...(limits === undefined ? {} : { limits }),
});

it("plans with the least that is known of a model's engines, and says that an operator said it where one did", () => {
  const endpoints = [
    endpoint("a", { maxSequences: 64, maxBatchedTokens: 4096, source: "engine" }),
    endpoint("a", { maxSequences: 32, source: "operator" }),
    endpoint("a"),
    endpoint("b", { maxSequences: 8, source: "engine" }),
    endpoint("c"),
  ];
  expect(endpointLimits(endpoints)).toEqual([
    { model: "a", maxSequences: 32, maxBatchedTokens: 4096, source: "operator" },
    { model: "b", maxSequences: 8, source: "engine" },
  ]);
});
