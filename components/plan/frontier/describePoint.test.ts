import { expect, it } from "vitest";
import { parsePin } from "../address/routingKey";
import { describePoint } from "./describePoint";

const figures = { quality: 80, latency: 3.5, cost: 0.0002, gpus: 8 };
const candidate = { gpus: [8], gpusTotal: 8, latencySeconds: 3.5, costUsdPerRequest: 0.0002, quality: 81, qualityLow: 80 };

const says = (key: string) =>
  describePoint({ key, standAloneModel: null, figures, candidate, policy: { kind: "routing", routing: parsePin(key)!.routing } });

it("says a plan with its thresholds and every figure", () => {
  expect(says("small@60~large*8")).toBe(
    "small below 60 → large: quality 81.0, at least 80.0 · p95 3.50\u00a0s · $0.000200 a request · 8 GPUs",
  );
});

it("tells plans apart that differ by their direct start alone", () => {
  expect(says("small@60~large^30")).toMatch(/^small below 60 → large, direct start from 30: /);
  expect(says("small@60~large^30")).not.toBe(says("small@60~large^40"));
});

it("says slack dispatch by its tau and its models", () => {
  const policy = { kind: "slack", models: ["small", "large"], tau: 1.5 } as const;
  expect(describePoint({ key: "slack*0*1.5", standAloneModel: null, figures, candidate, policy })).toMatch(
    /^slack dispatch τ 1\.5 over small, large: quality 81\.0/,
  );
});

it("says a baseline by its name, without a bound where none is known", () => {
  expect(
    describePoint({
      key: "baseline 1",
      number: 1,
      name: "CascadeServe",
      attainable: true,
      cascade: "small",
      routing: null,
      deployed: [],
      quality: 80,
      figures,
    }),
  ).toBe("CascadeServe: quality 80.0 · p95 3.50\u00a0s · $0.000200 a request · 8 GPUs");
});
