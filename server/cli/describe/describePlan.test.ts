import { expect, it } from "vitest";
import type { GateDocument } from "@/solver/gates/gateDocument";
import type { Plan } from "@/solver/plan/plan";
import type { JustInTimePolicy } from "@/solver/plan/policySchema";
import { examplePlanDraft } from "@/solver/plan/testing/examplePlan";
import { justInTime } from "@/solver/policies/testing/testJustInTime";
import { describePlan } from "./describePlan";

const gate: GateDocument = { kind: "confidence", measure: "minimum", calibration: { raw: [0, 100], calibrated: [0, 100] } };
const described = (callGates?: JustInTimePolicy["callGates"]): string =>
  describePlan({
    ...{ ...examplePlanDraft(), id: "0".repeat(64) },
    policy: justInTime({ kind: "beam", width: 4 }, callGates && { callGates }),
  } as unknown as Plan);

it("lists the gates by whose scores of agents' answers later agents get their models", () => {
  const text = described([{ model: "small", gate, prior: 0.6 }]);
  expect(text).toContain("agents' answers by small scored, for the models of later agents: ");
  expect(text).not.toContain("agents' answers by medium scored");
  expect(described()).not.toContain("scored, for the models of later agents");
});
