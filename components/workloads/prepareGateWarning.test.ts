import { expect, it } from "vitest";
import type { MeasureTrust, WorkloadSummary } from "@/server/contracts/studio";
import { examplePlanDraft } from "@/solver/plan/testing/examplePlan";
import { gateOf, gateWarning } from "./prepareGateWarning";

const examplePlan = examplePlanDraft();
const gate = { id: "gate", name: "Small judge" };
const workload: Pick<WorkloadSummary, "profileId" | "measured" | "judge"> = {
  profileId: "job",
  measured: { emulated: false, gate, label: { id: "right", name: "Reference" } },
  judge: { kind: "measured", auc: null },
};
const measure = (change: Partial<MeasureTrust>): MeasureTrust =>
  ({ ...{ measureId: "gate", name: "Small judge", labels: 50, warning: null }, ...change }) as MeasureTrust;

it("holds the gate of a profiled workload against the plan's own floor", () => {
  const asked = gateOf(examplePlan, workload);
  expect(asked).toEqual({ jobId: "job", gate, floor: examplePlan.inputs.objective.qualityFloor });
  const { inputs } = examplePlan;
  const without = { ...examplePlan, inputs: { ...inputs, objective: { ...inputs.objective, qualityFloor: null } } };
  expect(gateOf(without, workload)?.floor).toBe(Math.floor(examplePlan.predictions.quality));
});

it("has nothing to hold where no profile measured the judge, or one model answers alone", () => {
  expect(gateOf(examplePlan, { ...workload, profileId: null })).toBeNull();
  expect(gateOf(examplePlan, { ...workload, judge: { kind: "modelled", auc: 0.8 } })).toBeNull();
  const alone = { ...examplePlan, policy: { kind: "fixed", model: "a", queueing: { kind: "fcfs" } } } as unknown as typeof examplePlan;
  expect(gateOf(alone, workload)).toBeNull();
});

it("warns where nobody has labelled, passes on why a judge is not fit, and is silent where it is or where another measure is meant", () => {
  const warned = (change: Partial<MeasureTrust>) => gateWarning({ gate, floor: 50 }, { measures: [measure(change)] });
  expect(warned({ labels: 0, warning: "Nobody." })).toBe(
    'The scores of "Small judge", the gate\'s judge, have no hand labels: it is unknown whether it meets a floor of 50.',
  );
  expect(warned({ warning: "An AUC of 0.52 is too weak." })).toBe(
    '"Small judge", the gate\'s judge, is not fit for a floor of 50 at present: An AUC of 0.52 is too weak.',
  );
  expect(warned({})).toBeNull();
  expect(warned({ measureId: "right", warning: "weak" })).toBeNull();
});
