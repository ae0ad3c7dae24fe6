import { expect, it } from "vitest";
import type { MeasuredChange, PlanPromise } from "@/server/contracts/studio";
import { prepareLastChange } from "./prepareLastChange";

const p95: PlanPromise = {
  ...{ quantity: "end-to-end", model: null, name: "p95 end to end", kind: "seconds", promised: 11.2, band: { low: 10, high: 12 } },
  ...{ measured: 11, interval: { low: 10.5, high: 11.6 }, verdict: "kept", reason: "band at 90 %" },
};
const measured: MeasuredChange = {
  change: {
    ...{ clusterId: "c", at: "2026-01-01T14:02:00.000Z", actor: "ana", reason: "complaints", planId: "p", hashBefore: "b", hashAfter: "a" },
    ...{ from: { thresholds: [84, 56], slack: 0 }, to: { thresholds: [90, 61], slack: 0.2 }, forecast: null },
  },
  ...{ requests: 1234, windowSeconds: 45, figures: [p95], notComparable: null },
};

it("says who changed what, with each forecast beside what is measured since", () => {
  const view = prepareLastChange(measured, "a");
  expect(view.says).toMatch(/^Changed \d\d:02:00 by ana: slack 0 → 20 % \(thresholds 84, 56 → 90, 61\)$/);
  expect(view).toMatchObject({ reason: "complaints", note: null });
  expect(view.rows).toMatchObject([{ name: "p95 end to end", verdict: "on target" }]);
  expect(view.window.replaceAll("\u00a0", " ")).toBe("1,234 answered requests in 45.0 s since the change.");
});

it("can be put back to the values before it while it is in force, and no longer", () => {
  const view = prepareLastChange(measured, "a");
  expect(view.back).toEqual({ thresholds: [84, 56] });
  expect(view.backText).toBe("slack 20 → 0 % (thresholds 90, 61 → 84, 56)");
  expect(prepareLastChange(measured, "b").back).toBeNull();
  const tau = { ...measured, change: { ...measured.change, from: { tau: 0.5, deltaScore: 0.1 }, to: { tau: 1, deltaScore: 0.1 } } };
  expect(prepareLastChange(tau, "a").back).toEqual({ tau: 0.5, deltaScore: 0.1 });
});

it("says why nothing is compared, and where nothing was measured", () => {
  const none = prepareLastChange({ ...measured, requests: 0, figures: [], notComparable: "No forecast was made before this change." }, "a");
  expect(none).toMatchObject({
    rows: [],
    note: "No forecast was made before this change.",
    window: "Nothing is measured since the change.",
  });
});
