import fc from "fast-check";
import { expect, test } from "vitest";
import { extrapolations } from "../calibration/extrapolations";
import { vllmProfile } from "./builtInProfiles";
import { catalogueOf, noUserCards } from "./catalogue";
import { profilesBySoftware } from "./engineProfile";
import { type MeasuredEngine, measuredReplica } from "./measuredEngine";
import { joinMeasured, measuredFor, measuredProfile } from "./measuredProfile";
import { processorCard } from "./processorCard";
import { profileText, readProfileText } from "./readProfileText";
import { feasibleReplicas, replicaModel } from "./replicaShapes";

const userCards = { ...noUserCards, gpus: [processorCard(64e9)] };
const cards = catalogueOf(userCards);
const [small, large] = [cards.models["qwen2.5-7b"], cards.models["llama-3.1-8b"]];
const [processor, h100] = [cards.gpus["cpu-core"], cards.gpus["h100-sxm"]];
if (small === undefined || large === undefined || processor === undefined || h100 === undefined) throw new Error("cards are missing");

const limit = (value: number) => ({ value, origin: "reported" }) as const;
const engineOf = (model: string, gpu = "cpu-core"): MeasuredEngine => ({
  ...{ model, gpu, shape: { tp: 1, pp: 1 } },
  step: {
    decode: [
      { at: 0, seconds: 0.004 },
      { at: 1, seconds: 0.005 },
      { at: 8, seconds: 0.008 },
    ],
    prefill: [
      { at: 0, seconds: 0 },
      { at: 64, seconds: 0.012 },
      { at: 2048, seconds: 0.3 },
    ],
    ...{ secondsPerPrompt: 1e-3, secondsPerKvToken: 1e-6, secondsPerPair: 1e-8 },
  },
  request: { seconds: 1e-3, secondsPerInputToken: 1e-6, secondsPerOutputToken: 1e-5, delaySeconds: 2e-3 },
  limits: { kvTokens: limit(16_384), maxSequences: limit(8), maxBatchedTokens: limit(512), contextTokens: limit(2048) },
  ...{ errors: null, p95Errors: null, noise: null },
  measuredOn: {
    ...{ runs: 20, requests: 300, asOf: "2026-11-28", source: "an engine" },
    ...{ inputTokens: { least: 16, most: 512 }, outputTokens: { least: 16, most: 128 }, concurrency: { least: 1, most: 16 } },
  },
});

const profile = measuredProfile({ id: "own", name: "Own", engine: "vllm", cards: userCards }, [engineOf(small.id)]);
const node = { gpusPerNode: 8, maxGpus: 8 };

test("on a measured GPU the planner is offered the measured model in its measured shape, and nothing else", () => {
  const offered = feasibleReplicas(small, processor, node, profile);
  expect(offered.map(({ shape }) => shape)).toEqual([{ tp: 1, pp: 1 }]);
  expect(offered[0]?.replica).toMatchObject({ kvTokens: 16_384, maxSequences: 8, maxBatchedTokens: 512, delaySeconds: 2e-3 });
  expect(feasibleReplicas(large, processor, node, profile)).toEqual([]);
  expect(replicaModel(large, processor, { tp: 1, pp: 1 }, profile)).toEqual({
    fits: false,
    reason: `the profile "Own" has no measurement of ${large.id} on cpu-core at tp 1, pp 1`,
  });
});

test("on other GPUs kernel tables and the built-in profile hold, as without it", () => {
  const shapes = feasibleReplicas(large, h100, node, profile);
  const usual = feasibleReplicas(large, h100, node, vllmProfile);
  const step = { tokens: 100, prefillTokens: 90, prefillPairs: 4000, kvTokensRead: 700, sequences: 11 };
  expect(shapes.map(({ shape }) => shape)).toEqual(usual.map(({ shape }) => shape));
  for (const [at, { replica }] of shapes.entries())
    expect(replica.stepTime.mixedStepSeconds(step)).toBe(usual[at]?.replica.stepTime.mixedStepSeconds(step));
});

test("profiles join into one with the engines and cards of all, of which the last measurement of an engine counts", () => {
  const again = { ...engineOf(small.id), limits: { ...engineOf(small.id).limits, maxSequences: limit(4) } };
  const other = measuredProfile({ id: "b", name: "B", engine: "vllm" }, [engineOf(large.id), again]);
  const joined = joinMeasured([profile, other]);
  expect(joined.engines.map(({ model }) => model).sort()).toEqual([large.id, small.id].sort());
  expect(joined.engines.find(({ model }) => model === small.id)?.limits.maxSequences.value).toBe(4);
  expect(joined).toMatchObject({ id: "b", cards: userCards, fittedOn: { rows: 40, models: expect.arrayContaining([small.id, large.id]) } });
});

test("a profile's file restores it, and a field that is wrong is named", () => {
  expect(readProfileText(profileText(profile), "own.json")).toEqual({ ok: true, profile });
  const falling = { ...engineOf(small.id), step: { ...engineOf(small.id).step, decode: [...engineOf(small.id).step.decode].reverse() } };
  const read = readProfileText(JSON.stringify({ ...profile, engines: [falling] }), "own.json");
  expect(read).toMatchObject({ ok: false, message: expect.stringMatching(/^own.json: engines.0.step.decode: points must ascend/) });
});

test("loads and lengths beyond what was measured are extrapolated, those within are not", () => {
  const run = {
    engine: "vllm",
    model: small.id,
    gpu: "cpu-core",
    precision: "bf16",
    kvPrecision: "bf16",
    shape: { tp: 1, pp: 1 },
  } as const;
  expect(extrapolations({ ...run, inputTokens: 300, outputTokens: 60, concurrency: 12 }, profile, cards)).toEqual([]);
  expect(extrapolations({ ...run, inputTokens: 1500, outputTokens: 60, concurrency: 40 }, profile, cards)).toEqual([
    "1500 prompt tokens, fitted on 16 to 512",
    "40 requests in flight, fitted on 1 to 16",
  ]);
  expect(extrapolations({ ...run, model: large.id, inputTokens: 300, outputTokens: 60, concurrency: 1 }, profile, cards)).toHaveLength(1);
});

const usual = {
  ...({ engine: "vllm", model: small.id, gpu: "cpu-core", precision: "bf16", kvPrecision: "bf16", shape: { tp: 1, pp: 1 } } as const),
  ...{ inputTokens: 300, outputTokens: 60, concurrency: 8 },
};
const withFour = (engine: MeasuredEngine): MeasuredEngine => ({ ...engine, limits: { ...engine.limits, maxSequences: limit(4) } });
const llama = measuredProfile({ id: "llama", name: "Llama", engine: "weir-engine" }, [withFour(engineOf(small.id))]);
const both = joinMeasured([profile, llama]);

test("one engine measured in two softwares is kept twice, and the software that serves chooses", () => {
  expect(both.engines.map(({ engine }) => engine)).toEqual(["vllm", "weir-engine"]);
  for (const [software, sequences] of [
    ["vllm", 8],
    ["weir-engine", 4],
  ] as const) {
    const own = measuredFor(both, () => software);
    expect(feasibleReplicas(small, processor, node, own).map(({ replica }) => replica.maxSequences)).toEqual([sequences]);
    expect(extrapolations(usual, own, cards)).toEqual([]);
    expect(own).toMatchObject({ engine: software, fittedOn: { rows: 20 } });
    expect(profilesBySoftware(both)[software]).toEqual(own);
  }
});

test("a software that was not measured gets the measurement of another one, marked with both names", () => {
  const own = measuredFor(llama, ({ gpu }) => (gpu === "cpu-core" ? "vllm" : null));
  expect(feasibleReplicas(small, processor, node, own).map(({ replica }) => replica.maxSequences)).toEqual([4]);
  expect(extrapolations(usual, own, cards)).toEqual(["vLLM was not measured: times and limits of weir-engine stand in"]);
  expect(readProfileText(profileText(own), "own.json")).toEqual({ ok: true, profile: own });
});

test("where the software that serves is not known the last measurement counts, and is marked if there are several", () => {
  expect(measuredFor(both, () => null)).toBe(both);
  expect(feasibleReplicas(small, processor, node, both).map(({ replica }) => replica.maxSequences)).toEqual([4]);
  expect(extrapolations(usual, both, cards)).toEqual([
    "measured with vLLM and weir-engine, and which one serves is not known: times are of weir-engine",
  ]);
  expect(extrapolations(usual, llama, cards)).toEqual([]);
});

test("an entry of an earlier version, without a software, has that of its profile", () => {
  const old = { ...profile, engines: [engineOf(small.id)] };
  expect(readProfileText(JSON.stringify(old), "old.json")).toEqual({ ok: true, profile: old });
  expect(measuredFor(old, () => "vllm")).toBe(old);
  expect(joinMeasured([old, llama])).toEqual(both);
  expect(joinMeasured([llama, old]).engines.map(({ engine }) => engine)).toEqual(["weir-engine", "vllm"]);
});

test("for a known software every measured model has one measurement, its own where there is one", () => {
  const software = fc.constantFrom("vllm", "sglang", "weir-engine");
  const measured = fc.record({ software, model: fc.constantFrom(small.id, large.id) });
  fc.assert(
    fc.property(fc.array(measured, { minLength: 1, maxLength: 8 }), software, (all, wanted) => {
      const engines = all.map((one) => ({ ...engineOf(one.model), engine: one.software }));
      const own = measuredFor(measuredProfile({ id: "p", name: "P", engine: "vllm" }, engines), () => wanted);
      expect(own.engines.map(({ model }) => model).sort()).toEqual([...new Set(all.map(({ model }) => model))].sort());
      for (const { model, engine, standsInFor } of own.engines) {
        const isMeasured = all.some((one) => one.model === model && one.software === wanted);
        expect([engine === wanted, standsInFor]).toEqual([isMeasured, isMeasured ? undefined : wanted]);
      }
    }),
  );
});

test("no step gets shorter with more work, between points and beyond them", () => {
  const { stepTime } = measuredReplica(engineOf(small.id));
  const count = fc.integer({ min: 0, max: 5000 });
  fc.assert(
    fc.property(count, count, count, fc.nat(3), (sequences, prefillTokens, kvTokensRead, which) => {
      const at = (more: readonly number[]): number => {
        const [decodes = 0, prompt = 0, cached = 0, pairs = 0] = more;
        return stepTime.mixedStepSeconds({
          ...{ tokens: sequences + decodes + prefillTokens + prompt, prefillTokens: prefillTokens + prompt },
          ...{ prefillPairs: pairs, kvTokensRead: kvTokensRead + cached, sequences: sequences + decodes },
        });
      };
      expect(at([0, 0, 0, 0].with(which, 7))).toBeGreaterThanOrEqual(at([0, 0, 0, 0]));
    }),
  );
});
