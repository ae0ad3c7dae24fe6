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
      origin: "run",
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

test("limits of the engine, the shortest lengths and the number of requests are read where a table says them", () => {
  const told = { max_num_seqs: "32", max_num_batched_tokens: "2048", random_range_ratio: "1", n: "260" };
  expect(read({ ...plain, ...told })).toMatchObject({
    row: { limits: { maxSequences: 32, maxBatchedTokens: 2048 }, leastLengthShare: 1, requests: 260 },
  });
  expect(read({ ...plain, max_num_seqs: "", random_range_ratio: "" })).toEqual(read(plain));
  expect(read({ ...plain, max_num_seqs: "0" })).toEqual({ outcome: "bad", message: expect.stringContaining("max_num_seqs must be") });
  expect(read({ ...plain, random_range_ratio: "1.5" })).toEqual({
    outcome: "bad",
    message: expect.stringContaining("random_range_ratio must be"),
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

test.each([
  ["", "Qwen/Qwen3-32B", "bf16"],
  ["", "nvidia/Llama-3.1-8B-Instruct-FP8", "fp8"],
  ["", "gpt-oss-20b", "int4"],
  ["fp8", "meta-llama/Llama-3.1-70B-Instruct", "fp8"],
  ["AWQ", "llama-3.1-8b", "int4"],
  ["gptq", "llama-3.1-8b", "int4"],
  ["w4a16", "llama-3.1-8b", "int4"],
  ["mxfp4", "gpt-oss-20b", "int4"],
  ["FP8-dynamic", "llama-3.1-8b", "fp8"],
])(
  "the weight format %j of %s means %s: the row's where it says one, else the name's, else the checkpoint's",
  (weights, model, precision) => {
    expect(read({ ...plain, tp: "4", model, weights })).toMatchObject({
      row: { precision, kvPrecision: precision === "fp8" ? "fp8" : "bf16" },
    });
  },
);

test("numbers are plain decimals, whole ones also as exports write them", () => {
  expect(read({ ...plain, concurrency: "08.0", tpot_ms: ".5" })).toMatchObject({
    row: { concurrency: 8, measured: { tpotSeconds: 0.0005 } },
  });
});

describe("what Weir has no model for is reported with the reason, not guessed", () => {
  test.each([
    [{ engine: "llama.cpp" }, 'no profile of the engine "llama.cpp"'],
    [{ model: "acme/secret-7b" }, 'the model "acme/secret-7b" is not known; add a card on the Cards page'],
    [{ model: "llama-3.1-80b" }, 'the model "llama-3.1-80b" is not known; nearest: llama-3.1-'],
    [{ gpu: "mi300x" }, 'the GPU "mi300x" is not known; add a card on the Cards page'],
    [{ gpu: "h100" }, 'the GPU "h100" is not known; nearest: h100-'],
    [{ input_tokens: "131000" }, "131000 prompt and 200 answer tokens exceed the context of 131072 tokens of llama-3.1-8b"],
    [
      { concurrency: "8000" },
      "8000 requests in flight with 1000 prompt and 200 answer tokens would take too long to simulate; up to 2611 are",
    ],
    [{ weights: "nvfp4" }, 'weights in "nvfp4" are not modelled'],
    [{ weights: "constructor" }, 'weights in "constructor" are not modelled'],
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

test("a card that is missing is named by kind, so that a page can lead to the form that adds it", () => {
  const missing = (change: object) => {
    const answer = read({ ...plain, ...change });
    return answer.outcome === "unsupported" ? answer.unsupported.missingCard : "row";
  };
  expect(missing({ gpu: "cpu-core" })).toEqual({ kind: "gpu", name: "cpu-core" });
  expect(missing({ model: "tiny-b" })).toEqual({ kind: "model", name: "tiny-b" });
  expect(missing({ weights: "nvfp4" })).toBeUndefined();
});

test("weights in four bytes are refused with the way out", () => {
  const answer = read({ ...plain, weights: "fp32" });
  expect(answer.outcome === "unsupported" && answer.unsupported.reason).toBe(
    'weights in "fp32" are not modelled; call them bf16, and a fit takes their greater size into the efficiencies of kernels',
  );
});

describe("a wrong field is named by its column", () => {
  test.each([
    [{ concurrency: "" }, 'concurrency must be a whole number from 1 to 8000, found ""'],
    [{ concurrency: "9000" }, 'concurrency must be a whole number from 1 to 8000, found "9000"'],
    [{ concurrency: "2.5" }, 'concurrency must be a whole number from 1 to 8000, found "2.5"'],
    [{ input_tokens: "-3" }, 'input_tokens must be a whole number from 1 to 4000000, found "-3"'],
    [{ output_tokens: "1e99" }, 'output_tokens must be a whole number from 1 to 4000000, found "1e99"'],
    [{ concurrency: "0x1" }, 'concurrency must be a whole number from 1 to 8000, found "0x1"'],
    [{ concurrency: "1e1" }, 'concurrency must be a whole number from 1 to 8000, found "1e1"'],
    [{ ttft_ms: "0" }, 'ttft_ms must be milliseconds from 0.01 to 86400000, or empty, found "0"'],
    [{ ttft_ms: "1e300" }, 'ttft_ms must be milliseconds from 0.01 to 86400000, or empty, found "1e300"'],
    [{ ttft_ms: "1e-300" }, 'ttft_ms must be milliseconds from 0.01 to 86400000, or empty, found "1e-300"'],
    [{ ttft_ms: "0.001" }, 'ttft_ms must be milliseconds from 0.01 to 86400000, or empty, found "0.001"'],
    [{ ttft_ms: "86400001" }, 'ttft_ms must be milliseconds from 0.01 to 86400000, or empty, found "86400001"'],
    [{ ttft_ms: "0x20" }, 'ttft_ms must be milliseconds from 0.01 to 86400000, or empty, found "0x20"'],
    [{ ttft_ms: "fast" }, 'ttft_ms must be milliseconds from 0.01 to 86400000, or empty, found "fast"'],
    [{ tpot_ms: "Infinity" }, 'tpot_ms must be milliseconds from 0.01 to 86400000, or empty, found "Infinity"'],
  ])("%j", (change, message) => {
    expect(read({ ...plain, ...change })).toEqual({ outcome: "bad", message });
  });
});
