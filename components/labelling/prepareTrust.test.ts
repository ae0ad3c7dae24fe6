import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { MeasureTrust } from "@/server/contracts/studio";
import { prepareTrust } from "./prepareTrust";

const measure: MeasureTrust = {
  measureId: "gate",
  name: "Gate",
  labels: 50,
  agreement: { value: 0.84, low: 0.744, high: 0.906 },
  auc: { value: 0.81, low: 0.7, high: 0.886 },
  aucByModel: [],
  calibration: [],
  noisePoints: 3.21,
  orderFlips: null,
  usd: 0,
  warning: null,
};
const row = (change: Partial<MeasureTrust>) => {
  const [first] = prepareTrust({ measures: [{ ...measure, ...change }], floor: 80 });
  if (first === undefined) throw new Error("a row for each measure");
  return first;
};
const bin = (from: number, to: number, low: number, high: number) => ({
  from,
  to,
  labels: 9,
  quality: { value: (low + high) / 2, low, high },
});

describe("prepareTrust", () => {
  it("tells estimates with intervals rounded outwards", () => {
    expect(row({}).agreement).toMatchObject({ value: "84\u00a0%", span: "74 to 91\u00a0%", wide: false });
    expect(row({}).auc).toMatchObject({ value: "0.81", span: "0.70 to 0.89", wide: false });
  });

  it("rounds no interval inwards, and draws each inside its box", () => {
    const estimate = fc.tuple(fc.double({ min: 0, max: 1, noNaN: true }), fc.double({ min: 0, max: 1, noNaN: true }));
    fc.assert(
      fc.property(estimate, ([a, b]) => {
        const [low, high] = [Math.min(a, b), Math.max(a, b)];
        const picture = row({ auc: { value: (low + high) / 2, low, high } }).auc;
        const [from, to] = (picture?.span ?? "").split(" to ").map(Number);
        expect(from).toBeLessThanOrEqual(low + 1e-6);
        expect(to).toBeGreaterThanOrEqual(high - 1e-6);
        expect(picture?.low).toBeLessThanOrEqual(picture?.at ?? -1);
        expect(picture?.at).toBeLessThanOrEqual(picture?.high ?? -1);
      }),
    );
  });

  it("tells the AUC of each model's answers beside the mean over models", () => {
    const aucByModel = [
      { model: "small", labels: 20, auc: { value: 0.6, low: 0.444, high: 0.741 } },
      { model: "large", labels: 1, auc: null },
    ];
    expect(row({ aucByModel }).aucByModel).toEqual([
      { model: "small", says: "0.60 (0.44 to 0.75), 20 labels" },
      { model: "large", says: "not known, 1 label" },
    ]);
    expect(row({ aucByModel: aucByModel.slice(0, 1) }).aucByModel).toEqual([]);
  });

  it("calls an interval wide that says little", () => {
    expect(row({ auc: { value: 0.7, low: 0.5, high: 0.85 } }).auc?.wide).toBe(true);
  });

  it("tells a measure without labels, one that is fit and one that is not apart by a word", () => {
    expect(row({ labels: 0, warning: "Label a few dozen.", auc: null, agreement: null })).toMatchObject({
      word: "not known yet",
      auc: null,
    });
    expect(row({})).toMatchObject({ word: "fit for a floor of 80", tone: "good" });
    expect(row({ warning: "Too weak." })).toMatchObject({ word: "not fit at present", warning: "Too weak." });
  });

  it("shows ranges of scores that have labels, and says which way they are off", () => {
    const harsh = row({ calibration: [bin(0, 20, 30, 60), { ...bin(20, 40, 0, 100), labels: 0 }] });
    expect(harsh.calibration).toMatchObject([{ x: 0.1, y: 0.45, scores: "0 to 20", labels: 9, span: "30 to 60" }]);
    expect(harsh.bias).toBe("Answers are better than it scores them.");
    expect(row({ calibration: [bin(80, 100, 20, 60)] }).bias).toBe("Answers are worse than it scores them.");
    expect(row({ calibration: [bin(80, 100, 70, 90)] }).bias).toBe("No range of its scores is off by more than chance.");
    expect(row({}).bias).toBeNull();
  });

  it("says where noise and order were not measured", () => {
    expect(row({ noisePoints: null })).toMatchObject({ noise: "judged once", orderFlips: "one order only" });
    expect(row({ orderFlips: 0.125 })).toMatchObject({ noise: "±3.2 points", orderFlips: "13\u00a0%" });
  });
});
