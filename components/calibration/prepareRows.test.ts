import { describe, expect, it } from "vitest";
import { predictServing, type ServingPrediction } from "@/solver/calibration/predictServing";
import type { ServingRow } from "@/solver/calibration/servingRow";
import { engineProfiles } from "@/solver/hardware/builtInProfiles";
import { catalogueOf, noUserCards } from "@/solver/hardware/catalogue";
import type { EngineKind } from "@/solver/hardware/engineProfile";
import { checkedRows, inOrder } from "./prepareRows";

const row: ServingRow = {
  line: 2,
  id: "a",
  origin: "run",
  engine: "vllm",
  model: "llama-3.1-8b",
  gpu: "h100-sxm",
  precision: "bf16",
  kvPrecision: "bf16",
  shape: { tp: 1, pp: 1 },
  inputTokens: 500,
  outputTokens: 50,
  concurrency: 2,
  measured: { ttftSeconds: 0.04, tpotSeconds: 0.008 },
};

function predicted(change: Partial<ServingRow>): ServingPrediction {
  const answer = predictServing({ ...row, ...change }, engineProfiles.vllm, catalogueOf(noUserCards));
  if (answer.outcome !== "predicted") throw new Error(answer.unsupported.reason);
  return answer;
}

const predictions = [
  predicted({ line: 2 }),
  predicted({ line: 3, measured: { ttftSeconds: null, tpotSeconds: null }, concurrency: 9 }),
  predicted({ line: 4, measured: { ttftSeconds: 4, tpotSeconds: 0.8 }, concurrency: 10 }),
];
const profileOf = (engine: EngineKind) => engineProfiles[engine];
const lines = (rows: ReturnType<typeof checkedRows>) => rows.map((checked) => checked.row.line);

describe("runs beside what was predicted for them", () => {
  it("give back what the row measured, and nothing where it did not", () => {
    const [first, second] = checkedRows(predictions, "ttft", profileOf);
    expect(first?.measuredSeconds).toBeCloseTo(0.04, 12);
    expect(second).toMatchObject({ measuredSeconds: null, error: null });
    expect(checkedRows(predictions, "tpot", profileOf)[0]?.measuredSeconds).toBeCloseTo(0.008, 12);
  });

  it("say which metric their engine's profile does not match", () => {
    const sglang = [predicted({ engine: "sglang" })];
    expect(checkedRows(sglang, "ttft", profileOf)[0]?.matched).toBe(false);
    expect(checkedRows(sglang, "tpot", profileOf)[0]?.matched).toBe(true);
  });

  it("stand by the size of their error, those without one last in either direction", () => {
    const rows = checkedRows(predictions, "ttft", profileOf);
    expect(lines(inOrder(rows, "error", true))).toEqual([4, 2, 3]);
    expect(lines(inOrder(rows, "error", false))).toEqual([2, 4, 3]);
  });

  it("stand by numbers as numbers, equals by line", () => {
    const rows = checkedRows(predictions, "ttft", profileOf);
    expect(lines(inOrder(rows, "concurrency", true))).toEqual([4, 3, 2]);
    expect(lines(inOrder(rows, "model", true))).toEqual([2, 3, 4]);
  });
});
