import { expect, it } from "vitest";
import type { GateDocument } from "./gateDocument";
import { withCalibrations } from "./withCalibrations";

const old = { raw: [0, 100], calibrated: [10, 90] };
const next = { raw: [20, 80], calibrated: [0, 100] };
const confidence = { kind: "confidence", measure: "minimum" } as const;
const step = { acceptFrom: 90, escalateBelow: 10 };

it("replaces the calibration of a gate, or takes it out", () => {
  const gate: GateDocument = { ...confidence, calibration: old };
  expect(withCalibrations(gate, [next])).toEqual({ ...confidence, calibration: next });
  expect(withCalibrations(gate, [])).toEqual(confidence);
});

it("replaces those of a sequence by place, and leaves its bounds", () => {
  const gate: GateDocument = {
    kind: "sequence",
    first: [{ gate: { ...confidence, calibration: old }, ...step }],
    last: { kind: "judge", calibration: old },
  };
  expect(withCalibrations(gate, [old, next])).toEqual({ ...gate, last: { kind: "judge", calibration: next } });
  expect(withCalibrations(gate, [undefined, next])).toEqual({
    kind: "sequence",
    first: [{ gate: confidence, ...step }],
    last: { kind: "judge", calibration: next },
  });
});
