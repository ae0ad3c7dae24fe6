import { describe, expect, it } from "vitest";
import type { FittedCalibration, LabelledGate, LabelledGates } from "@/server/contracts/studio";
import { prepareLabelledGates } from "./prepareLabelledGates";

const bins = (score: number) => [{ from: 60, to: 70, answers: 40, score, quality: 50 }];
const fitted = (gain: FittedCalibration["gain"]): FittedCalibration => ({
  before: { error: 17.24, bins: bins(67) },
  after: { error: 3.1, bins: bins(51) },
  ...{ gain, accepted: { before: 1, after: 0.4 } },
});
const better = { value: 0.041, low: 0.012, high: 0.07 };
const gate = (change: Partial<LabelledGate> = {}): LabelledGate => ({
  ...{ stage: 1, model: "small", kind: "confidence", gate: "smallest token probability", calibrated: true },
  ...{ labels: 40, good: 28, bad: 12, earlier: 0, fitted: fitted(better), ...change },
});
const found = (...gates: readonly LabelledGate[]) => ({
  ...{ ok: true as const },
  labelled: { planId: "p", workloadId: "w", needed: { all: 40, ofEach: 5 }, gates } satisfies LabelledGates,
});
const viewOf = (...gates: readonly LabelledGate[]) => {
  const view = prepareLabelledGates(found(...gates), { id: "w" }, "east");
  if (view.kind !== "gates") throw new Error(view.text);
  return view;
};

describe("prepareLabelledGates", () => {
  it("has the figures of each gate before and after, and a diagram with both", () => {
    const { rows, diagrams, missing, planId } = viewOf(gate());
    expect(rows).toEqual([
      {
        ...{ key: "1 smallest token probability", model: "small", gate: "smallest token probability" },
        ...{ labels: "40 (28 good, 12 bad)", before: "17.2", after: "3.1", gain: "0.041 (0.012 to 0.070)" },
        ...{ accepted: "100\u00a0% → 40\u00a0%", verdict: { text: "new calibration is better", tone: "warn" } },
      },
    ]);
    expect([planId, missing]).toEqual(["p", null]);
    expect(diagrams[0]?.picture?.lines.map(({ key }) => key)).toEqual(["equal", "raw", "calibrated"]);
    expect(diagrams[0]?.rows).toEqual([
      {
        scores: "60 to 70",
        raw: { answers: "40", score: "67.0", quality: "50.0" },
        calibrated: { answers: "40", score: "51.0", quality: "50.0" },
      },
    ]);
  });

  it("calls neither better where the interval has 0, and the one in force where it is surely so", () => {
    const verdict = (low: number, high: number) => viewOf(gate({ fitted: fitted({ value: 0, low, high }) })).rows[0]?.verdict.text;
    expect([verdict(-0.01, 0.01), verdict(-0.02, -0.01)]).toEqual(["no difference shown", "calibration in force is better"]);
  });

  it("says how many labels a calibration needs where no gate has them", () => {
    const { rows, diagrams, missing } = viewOf(
      gate({ labels: 3, good: 3, bad: 0, fitted: null }),
      gate({ model: "medium", stage: 2, labels: 0, fitted: null }),
    );
    expect(missing).toContain("needs 40 new labels of a gate, 5 of good answers and 5 of bad ones");
    expect(rows.map(({ labels, before, gain, accepted, verdict }) => [labels, before, gain, accepted, verdict.text])).toEqual([
      ["3 (3 good, 0 bad)", "–", "–", "–", "too few labels"],
      ["0", "–", "–", "–", "too few labels"],
    ]);
    expect(diagrams).toEqual([]);
    expect(viewOf(gate({ labels: 0, earlier: 41, fitted: null })).rows[0]?.labels).toBe("0, 41 earlier");
    expect(viewOf(gate(), gate({ stage: 2, fitted: null })).missing).toBeNull();
  });

  it("leads to the workload whose gates are in force, and says why there are none", () => {
    expect(prepareLabelledGates(found(gate()), { id: "other" }, "east")).toMatchObject({
      ...{ kind: "none", workloadId: "w", text: expect.stringContaining("The plan in force on east was made from another workload") },
    });
    const refused = { ok: false as const, message: "No plan is in force on east, so there are no gates to calibrate." };
    expect(prepareLabelledGates(refused, { id: "w" }, "east")).toMatchObject({ kind: "none", text: refused.message, workloadId: null });
  });
});
