import { gunzipSync, gzipSync } from "node:zlib";
import fc from "fast-check";
import { expect, test } from "vitest";
import { generatedWorkload } from "@/solver/workload/generated";
import type { Workload } from "@/solver/workload/workload";
import { decodeWorkload, encodeWorkload, workloadHash } from "./workloadCodec";

const score = fc.double({ min: 0, max: 100, noNaN: true }).map(Math.abs);
const tokens = fc.integer({ min: 1, max: 2 ** 31 - 1 });

/** Any workload a decoder must accept. */
const anyWorkload: fc.Arbitrary<Workload> = fc.integer({ min: 2, max: 20 }).chain((prompts) => {
  const column = <T>(of: fc.Arbitrary<T>) => fc.array(of, { minLength: prompts, maxLength: prompts });
  return fc.record({
    name: fc.string(),
    seed: fc.integer(),
    judge: fc.oneof(
      fc.constant({ kind: "measured" as const }),
      fc.record({ kind: fc.constant("modelled" as const), auc: fc.double({ min: 0.5, max: 1, noNaN: true }), seed: fc.integer() }),
    ),
    origin: fc.record({ outcomes: fc.string(), arrivals: fc.string(), generated: fc.boolean() }),
    arrivalSeconds: fc
      .array(fc.double({ min: 0, max: 1e6, noNaN: true }).map(Math.abs), { minLength: 2, maxLength: 30 })
      .map((seconds) => Float64Array.from(seconds).sort()),
    outcomes: fc.record({
      promptIds: column(fc.string()),
      categories: column(fc.string()),
      inputTokens: column(tokens).map((values) => Int32Array.from(values)),
      models: fc.array(
        fc.record(
          {
            model: fc.string(),
            tableName: fc.string(),
            outputTokens: column(tokens).map((values) => Int32Array.from(values)),
            label: column(score).map((values) => Float64Array.from(values)),
            judged: column(score).map((values) => Float64Array.from(values)),
            confidence: column(score).map((values) => Float64Array.from(values)),
            agreement: column(score).map((values) => Float64Array.from(values)),
          },
          { requiredKeys: ["model", "tableName", "outputTokens", "label", "judged"] },
        ),
        { minLength: 1, maxLength: 4 },
      ),
    }),
  });
});

test("a workload comes back as it was, with the same hash", () => {
  fc.assert(
    fc.property(anyWorkload, (workload) => {
      const back = decodeWorkload(encodeWorkload(workload));
      expect(back).toEqual(workload);
      expect(workloadHash(back)).toBe(workloadHash(workload));
    }),
  );
});

test("scores of further gates change the hash, and a table without them has the hash it always had", () => {
  const workload = generatedWorkload({ prompts: 40, seed: 1 });
  const models = workload.outcomes.models.map((model) => ({ ...model, confidence: model.judged }));
  const withConfidence = { ...workload, outcomes: { ...workload.outcomes, models } };
  expect(workloadHash(withConfidence)).not.toBe(workloadHash(workload));
  const agreeing = models.map(({ confidence, ...model }) => ({ ...model, agreement: confidence }));
  expect(workloadHash({ ...workload, outcomes: { ...workload.outcomes, models: agreeing } })).not.toBe(workloadHash(withConfidence));
  expect(workloadHash(workload)).toBe("cf91e481a53f83ef2c42a3e80337f5a552c8d7dfd5b2a9790a205bf00af50e86");
});

test("the hash follows the content, not the words", () => {
  const workload = generatedWorkload({ prompts: 40, seed: 1 });
  const hash = workloadHash(workload);
  expect(hash).toMatch(/^[0-9a-f]{64}$/);
  expect(workloadHash({ ...workload, name: "other", origin: { ...workload.origin, arrivals: "elsewhere" } })).toBe(hash);
  expect(workloadHash({ ...workload, seed: 2 })).not.toBe(hash);
  const judged = workload.outcomes.models.map((model, at) => (at === 0 ? { ...model, judged: model.label } : model));
  expect(workloadHash({ ...workload, outcomes: { ...workload.outcomes, models: judged } })).not.toBe(hash);
  expect(workloadHash({ ...workload, arrivalSeconds: workload.arrivalSeconds.map((seconds) => seconds * 2) })).not.toBe(hash);
});

test("other bytes, an older layout, lost bytes and impossible values are refused with what is wrong", () => {
  const workload = generatedWorkload({ prompts: 40, seed: 1 });
  const bytes = gunzipSync(encodeWorkload(workload));
  expect(() => decodeWorkload(Buffer.from("not gzip"))).toThrow("not gzip, cut short or damaged");
  expect(() => decodeWorkload(encodeWorkload(workload).subarray(0, 500))).toThrow("not gzip, cut short or damaged");
  expect(() => decodeWorkload(gzipSync("weir-workload/0\n...."))).toThrow("does not begin with 'weir-workload/1'");
  expect(() => decodeWorkload(gzipSync(bytes.subarray(0, -8)))).toThrow("bytes where");
  const outcomes = {
    ...workload.outcomes,
    models: workload.outcomes.models.map((model) => ({ ...model, label: model.label.map(() => 140) })),
  };
  expect(() => decodeWorkload(encodeWorkload({ ...workload, outcomes }))).toThrow("the value 140 is outside 0..100");
  expect(() => decodeWorkload(encodeWorkload({ ...workload, arrivalSeconds: Float64Array.of(0, 2, 1) }))).toThrow("arrivals do not ascend");
});
