import { expect, test } from "vitest";
import { engineProfiles } from "../hardware/builtInProfiles";
import { catalogueOf, noUserCards } from "../hardware/catalogue";
import type { EngineKind } from "../hardware/engineProfile";
import { runSimulator } from "./predictServing";

const cards = catalogueOf(noUserCards);

/**
 * The simulator's output when its errors were computed against measured runs (`measuredServing.slow.test.ts`, which needs the published
 * data). Nothing measured is in this table: it detects a change of the model that moves predictions where that data is not available. An
 * intended change is first compared with the measurements, then written here.
 */
const PREDICTED: readonly (readonly [
  engine: EngineKind,
  model: string,
  gpu: string,
  precision: "bf16" | "fp8",
  tp: number,
  inputTokens: number,
  outputTokens: number,
  concurrency: number,
  ttftSeconds: number,
  tpotSeconds: number,
])[] = [
  ["vllm", "llama-3.1-70b", "h200-sxm", "fp8", 1, 1000, 1000, 8, 0.248, 0.0231],
  ["vllm", "llama-3.1-70b", "h200-sxm", "fp8", 8, 8000, 1000, 32, 0.803, 0.0199],
  ["sglang", "llama-3.1-8b", "h200-sxm", "fp8", 2, 2000, 500, 128, 0.218, 0.0155],
  ["trtllm", "qwen3-32b", "h100-sxm", "fp8", 4, 2000, 250, 32, 0.302, 0.0152],
  ["vllm", "qwen2.5-7b", "l40s", "bf16", 1, 500, 200, 16, 0.121, 0.0241],
  ["vllm", "llama-3.1-70b", "a100-sxm-80g", "bf16", 4, 1000, 300, 16, 0.48, 0.04],
  ["vllm", "deepseek-v3", "h200-sxm", "fp8", 8, 1000, 500, 32, 0.187, 0.029],
  ["vllm", "mixtral-8x7b", "h100-sxm", "bf16", 2, 1000, 300, 16, 0.0934, 0.0193],
];

test.each(PREDICTED)("%s with %s on %s in %s at tp %d, %d in, %d out, %d in flight, is predicted as when it was checked", (...run) => {
  const [engine, model, gpu, precision, tp, inputTokens, outputTokens, concurrency, ttftSeconds, tpotSeconds] = run;
  const simulated = runSimulator(
    engineProfiles[engine],
    cards,
  )({
    line: 1,
    id: "pinned",
    origin: "run",
    engine,
    model,
    gpu,
    precision,
    kvPrecision: precision,
    shape: { tp, pp: 1 },
    inputTokens,
    outputTokens,
    concurrency,
    measured: { ttftSeconds: null, tpotSeconds: null },
  });
  if ("reason" in simulated) throw new Error(simulated.reason);
  expect(simulated.ttftSeconds / ttftSeconds).toBeCloseTo(1, 1.5);
  expect(simulated.tpotSeconds / tpotSeconds).toBeCloseTo(1, 1.7);
});
