import { expect, it } from "vitest";
import { examplePlanDraft } from "@/solver/plan/testing/examplePlan";
import { asSituation } from "../constraints/prepareConstraints";
import { planCodec } from "./planCodec";
import { planNowPath } from "./planNowPath";

it("keeps the trained router that the plan names, and not the newest", () => {
  const { inputs } = examplePlanDraft();
  const predictor = "ab".repeat(32);
  const path = planNowPath({ inputs: { ...inputs, directStart: { predictor } } }, { workloadId: "w", requestsPerSecond: 1, basis: [] });
  const view = planCodec.parse(new URLSearchParams(path.split("?")[1]));
  expect(asSituation(view)).toMatchObject({ directStart: { predictor } });
});

it("keeps the gate that was asked for, and asks for any where none was", () => {
  const { inputs } = examplePlanDraft();
  const opened = (own: typeof inputs) =>
    planCodec.parse(new URLSearchParams(planNowPath({ inputs: own }, { workloadId: "w", requestsPerSecond: 1, basis: [] }).split("?")[1]));
  expect(opened({ ...inputs, gateChoice: "confidence" }).gateChoice).toBe("confidence");
  expect(opened(inputs).gateChoice).toBe("any");
});

it("asks for the highest rate again where the plan's was searched for", () => {
  const { inputs } = examplePlanDraft();
  const path = planNowPath({ inputs: { ...inputs, rateChoice: "highest" } }, { workloadId: "w", requestsPerSecond: 1, basis: [] });
  expect(planCodec.parse(new URLSearchParams(path.split("?")[1])).kind).toBe("highest-rate");
});

it("opens the Plan page with what was asked of the plan, for the traffic that is measured", () => {
  const draft = examplePlanDraft();
  const inputs = {
    ...draft.inputs,
    objective: { ...draft.inputs.objective, latencyBudgetSeconds: 7, qualityConfidence: null, slack: 0.18 },
  };
  const path = planNowPath({ inputs }, { workloadId: "seen", requestsPerSecond: 12.3456, basis: [] });
  expect(path).toMatch(/^\/plan\?/);
  expect(planCodec.parse(new URLSearchParams(path.split("?")[1]))).toMatchObject({
    ...{ workload: "seen", requestsPerSecond: 12.3, qualityFloor: 70, latencyBudgetSeconds: 7, gpus: 2, kind: "latency-under-quality" },
    ...{
      policy: "cascade",
      slack: 18,
      latency: "end-to-end",
      heldFor: "point",
      judge: null,
      judgeSeconds: null,
      router: null,
      fixed: null,
    },
  });
});
