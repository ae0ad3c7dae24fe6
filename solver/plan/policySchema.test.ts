import { describe, expect, it } from "vitest";
import type { CascadePolicy } from "./plan";
import { listedModelsOf, readyJudgeOf } from "./policySchema";
import { examplePlanDraft } from "./testing/examplePlan";

const { policy, deployment } = examplePlanDraft();
const judge = { model: "judge-engine", secondsPerCall: 0.3, usdPerCall: 0, engine: { rubricTokens: 400, outputTokens: 20 } };
const [first] = deployment;
const withJudge = first === undefined ? [] : [...deployment, { ...first, model: judge.model }];

/** Its threshold, and the highest approved one. */
const cascade = (threshold: number, most: number, more: Partial<CascadePolicy> = {}): CascadePolicy => ({
  ...{ ...policy, judge, thresholds: [threshold], approvedRanges: { thresholds: [{ min: 0, max: most }] } },
  ...more,
});

describe("the judge that a plan keeps ready", () => {
  it.each([
    ["one that judges", cascade(60, 70), "judge-engine"],
    ["one that judges once a threshold of 0 is raised", cascade(0, 12), "judge-engine"],
    ["none where no threshold can be raised", cascade(0, 0), null],
    ["none where no gate asks it", cascade(60, 70, { gates: [{ kind: "confidence", measure: "minimum" }] }), null],
    ["none of the plan where another server judges", cascade(60, 70, { judge: { ...judge, engine: undefined } }), null],
  ] as const)("is %s", (_, given, ready) => expect(readyJudgeOf(given)).toBe(ready));

  it("is among the engines that a gateway lists, where the plan deploys it", () => {
    const stages = policy.stages.map(({ model }) => model);
    expect(listedModelsOf({ policy: cascade(0, 12), deployment: withJudge })).toEqual([...stages, "judge-engine"]);
    expect(listedModelsOf({ policy: cascade(0, 12), deployment })).toEqual(stages);
    expect(listedModelsOf({ policy: cascade(0, 0), deployment: withJudge })).toEqual(stages);
  });
});
