import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { GateDocument } from "@/solver/gates/gateDocument";
import { seededRandom } from "@/solver/numeric/random";
import type { PolicyDocument } from "@/solver/plan/policySchema";
import { examplePlanDraft } from "@/solver/plan/testing/examplePlan";
import { type LabelSources, recalibratedGates } from "./labelledGates";

type Cascade = Extract<PolicyDocument, { kind: "cascade" }>;

const NOW = "2026-01-02T00:00:00.000Z";
const confidence = { kind: "confidence", measure: "minimum" } as const;
const calibration = { raw: [0, 100], calibrated: [0, 100] };

function cascade(gate: GateDocument, threshold = 60, judge = "weir-judge"): Cascade {
  const { policy } = examplePlanDraft();
  if (policy.kind !== "cascade") throw new Error("The example is a cascade");
  return { ...policy, thresholds: [threshold], gates: [gate], judge: { ...policy.judge, model: judge } };
}

/** Labels of answers that are right half as often as their raw scores say. */
function labels(count: number, planId = "now", places = 1): ReturnType<LabelSources["newest"]> {
  const random = seededRandom(4);
  return Array.from({ length: count }, () => {
    const score = 100 * random.next();
    return { planId, at: NOW, raw: Array.from({ length: places }, () => score), quality: random.next() < score / 200 ? 100 : 0 };
  });
}

const sources = (given: ReturnType<LabelSources["newest"]>, policies: Record<string, PolicyDocument | undefined>): LabelSources => ({
  newest: (_, limit) => given.slice(0, limit),
  policyOf: (planId) => policies[planId] ?? null,
  madeAt: "2026-01-01T00:00:00.000Z",
});

describe("recalibratedGates", () => {
  it("writes the new calibration into the policy and leaves the rest of it", () => {
    const now = cascade({ ...confidence, calibration });
    const { policy, gates, notes } = recalibratedGates(now, sources(labels(300), { now }));
    const [gate] = policy?.gates ?? [];
    expect(policy).toEqual({ ...now, gates: [{ ...confidence, calibration: expect.any(Object) }] });
    expect(gate).not.toEqual(now.gates?.[0]);
    expect(gates).toMatchObject([{ stage: 1, model: "small", gate: "smallest token probability", calibrated: true, labels: 300 }]);
    const { before, after, accepted, gain } = gates[0]?.fitted ?? {};
    expect(after?.error).toBeLessThan(before?.error ?? 0);
    expect(gain?.low).toBeGreaterThan(0);
    // Four tenths of the raw scores reach 60, and hardly a calibrated one does.
    expect(accepted?.before).toBeGreaterThan(0.3);
    expect(accepted?.after).toBeLessThan(0.1);
    expect(notes).toEqual([expect.stringMatching(/^The gate of small \(smallest token probability\) is calibrated on 300 labels/)]);
  });

  it("counts labels under plans whose gate differed in its calibration alone", () => {
    const now = cascade({ ...confidence, calibration });
    const plans = {
      before: cascade(confidence, 80),
      other: cascade({ ...confidence, measure: "mean" }),
      slack: { ...now, kind: "fixed", model: "small" } as unknown as PolicyDocument,
    };
    const given = [...labels(40, "before"), ...labels(30, "other"), ...labels(20, "slack"), ...labels(10, "gone")];
    expect(recalibratedGates(now, sources(given, plans)).gates[0]?.labels).toBe(40);
  });

  it("measures nothing on labels that the calibration in force may have been fitted to, and fits to them", () => {
    const now = cascade({ ...confidence, calibration });
    const earlier = labels(60).map((label) => ({ ...label, at: "2025-12-31T00:00:00.000Z" }));
    const both = recalibratedGates(now, sources([...labels(50), ...earlier], { now }));
    expect(both.gates).toMatchObject([{ labels: 50, earlier: 60 }]);
    expect(both.gates[0]?.fitted?.before.bins.reduce((sum, { answers }) => sum + answers, 0)).toBe(50);
    expect(both.notes[0]).toContain("calibrated on 110 labels");
    expect(recalibratedGates(now, sources(earlier, { now }))).toMatchObject({
      policy: null,
      gates: [{ labels: 0, earlier: 60, fitted: null }],
    });
  });

  it("does not mix the scores of two judges", () => {
    const now = cascade({ kind: "judge" });
    const given = [...labels(40, "same"), ...labels(30, "other")];
    const plans = { same: cascade({ kind: "judge" }, 30), other: cascade({ kind: "judge" }, 60, "another-judge") };
    expect(recalibratedGates(now, sources(given, plans)).gates[0]?.labels).toBe(40);
  });

  it("fits each gate of a sequence to the answers that it scored", () => {
    const sequence: GateDocument = {
      kind: "sequence",
      first: [{ gate: { ...confidence, calibration }, acceptFrom: 90, escalateBelow: 10 }],
      last: { kind: "judge", calibration },
    };
    const now = cascade(sequence);
    const given = labels(100, "now", 2).map((label, at) => (at < 80 ? { ...label, raw: [label.raw[0] ?? null, null] } : label));
    const { gates, policy } = recalibratedGates(now, sources(given, { now }));
    expect(gates.map(({ gate, labels: of, fitted }) => [gate, of, fitted?.accepted])).toEqual([
      ["smallest token probability", 100, null],
      ["the judge", 20, undefined],
    ]);
    expect(policy?.gates?.[0]).toMatchObject({ first: [{ acceptFrom: 90, escalateBelow: 10 }], last: { kind: "judge", calibration } });
  });

  it("offers no policy below the labels that a calibration needs, and leaves out stages that accept everything", () => {
    const now = cascade(confidence);
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 39 }), (count) => {
        const { gates, policy, notes } = recalibratedGates(now, sources(labels(count), { now }));
        expect([policy, notes, gates[0]?.fitted, gates[0]?.labels]).toEqual([null, [], null, count]);
      }),
    );
    expect(recalibratedGates(cascade(confidence, 0), sources(labels(300), { now })).gates).toEqual([]);
  });
});
