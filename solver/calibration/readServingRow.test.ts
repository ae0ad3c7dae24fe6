import { describe, expect, test } from "vitest";
import { catalogueOf, noUserCards } from "../hardware/catalogue";
import { readServingRow } from "./readServingRow";

const cards = catalogueOf(noUserCards);
const plain = {
  engine: "vllm",
  model: "llama-3.1-8b",
  gpu: "h100-sxm",
  tp: "2",
  input_tokens: "1000",
  output_tokens: "200",
  concurrency: "16",
};
const exported = {
  backend: "trtllm",
  model_path: "Qwen/Qwen3-32B",
  system: "h100_sxm",
  tp_size: "4.0",
  pp_size: "1.0",
  isl: "1024",
  osl: "128",
  concurrency: "8.0",
  gemm_quant_mode: "fp8",
  silicon_ttft_ms: "271.98",
  silicon_tpot_ms: "18.65",
};

const read = (record: Record<string, string>) => readServingRow(record, 7, cards);

test("a plain row is read, with defaults for what it leaves out", () => {
  expect(read(plain)).toEqual({
    outcome: "row",
    row: {
      line: 7,
      id: "line 7",
      engine: "vllm",
      model: "llama-3.1-8b",
      gpu: "h100-sxm",
      precision: "bf16",
      kvPrecision: "bf16",
      shape: { tp: 2, pp: 1 },
      inputTokens: 1000,
      outputTokens: 200,
      concurrency: 16,
      measured: { ttftSeconds: null, tpotSeconds: null },
    },
  });
});

test("a row of an exported table is read by its own column names, times in seconds, the cache in fp8 under fp8 weights", () => {
  const answer = read(exported);
  expect(answer).toMatchObject({
    outcome: "row",
    row: { engine: "trtllm", model: "qwen3-32b", gpu: "h100-sxm", shape: { tp: 4, pp: 1 }, precision: "fp8", kvPrecision: "fp8" },
  });
  expect(answer.outcome === "row" && answer.row.measured.ttftSeconds).toBeCloseTo(0.27198, 9);
});

test("a model is known by its repository, with and without the suffix of its tuning, and by its id", () => {
  for (const model of ["meta-llama/Llama-3.1-8B", "meta-llama/Llama-3.1-8B-Instruct", "Llama-3.1-8B-Instruct", "llama-3.1-8b"]) {
    expect(read({ ...plain, model }), model).toMatchObject({ row: { model: "llama-3.1-8b" } });
  }
});

test("an empty weight format means bf16", () => {
  expect(read({ ...exported, gemm_quant_mode: "" })).toMatchObject({ row: { precision: "bf16", kvPrecision: "bf16" } });
});

describe("what Weir has no model for is reported with the reason, not guessed", () => {
  test.each([
    [{ engine: "llama.cpp" }, 'no profile of the engine "llama.cpp"'],
    [{ model: "acme/secret-7b" }, 'no model card for "acme/secret-7b"'],
    [{ gpu: "mi300x" }, 'no GPU card for "mi300x"'],
    [{ weights: "nvfp4" }, 'weights in "nvfp4" are not modelled'],
    [{ kv_precision: "int8" }, 'a KV cache in "int8" is not modelled'],
    [{ mode: "disagg" }, 'mode "disagg"'],
    [{ dp: "4" }, "data-parallel attention over 4 groups"],
    [{ tp: "16" }, "tp 16 is not one of 1, 2, 4, 8"],
  ])("%j", (change, reason) => {
    const answer = read({ ...plain, ...change });
    expect(answer).toMatchObject({ outcome: "unsupported", unsupported: { line: 7 } });
    expect(answer.outcome === "unsupported" && answer.unsupported.reason).toContain(reason);
  });
});

describe("a wrong field is named with its line and column", () => {
  test.each([
    [{ concurrency: "" }, 'Line 7: concurrency must be a whole number from 1 to 8000, found "".'],
    [{ concurrency: "9000" }, 'Line 7: concurrency must be a whole number from 1 to 8000, found "9000".'],
    [{ concurrency: "2.5" }, 'Line 7: concurrency must be a whole number from 1 to 8000, found "2.5".'],
    [{ input_tokens: "-3" }, 'Line 7: input_tokens must be a whole number from 1 to 4000000, found "-3".'],
    [{ output_tokens: "1e99" }, 'Line 7: output_tokens must be a whole number from 1 to 4000000, found "1e99".'],
    [{ ttft_ms: "0" }, 'Line 7: ttft_ms must be milliseconds above 0, or empty, found "0".'],
    [{ tpot_ms: "fast" }, 'Line 7: tpot_ms must be milliseconds above 0, or empty, found "fast".'],
  ])("%j", (change, message) => {
    expect(read({ ...plain, ...change })).toEqual({ outcome: "bad", message });
  });
});
