import { describe, expect, it } from "vitest";
import { predictingRequest, predictingSample, predictSkips } from "./predictSkips";
import { testEnsemble, testReport, testSample } from "./testGate";

const experts = testEnsemble().experts;

describe("the sample that a served ensemble is held against", () => {
  const without = testSample({ id: "other", models: testSample().models.slice(1) });
  const modelled = testSample({ id: "modelled", origin: "modelled" });
  const uploaded = testSample({ id: "uploaded" });
  it("is the one that is named, else one of real answers, and none that lacks an expert", () => {
    expect(predictingSample([modelled, uploaded], "modelled", experts)?.id).toBe("modelled");
    expect(predictingSample([without, modelled, uploaded], "other", experts)?.id).toBe("uploaded");
    expect(predictingSample([modelled], "gone", experts)?.id).toBe("modelled");
    expect(predictingSample([without], "other", experts)).toBeNull();
  });
});

describe("what a sample predicts at the tau in force", () => {
  it("is what skips at the first tau that decides as this one does", () => {
    expect(predictSkips(testEnsemble({ tau: 2 / 3 }), testSample(), testReport())).toMatch(
      /^predicted 85\.0\u00a0% \(.*\) by the sample answers, uploaded$/,
    );
    expect(predictSkips(testEnsemble({ tau: 0.5 }), testSample(), testReport())).toContain("predicted 85.0");
    expect(predictSkips(testEnsemble({ tau: 1 }), testSample(), testReport())).toContain("predicted 45.0");
  });

  it("is nothing where votes weigh otherwise in the ensemble", () => {
    const weighed = (third: number) =>
      testEnsemble({ confidence: { kind: "accuracy-weighted", accuracy: { "a-1b": 0.5, "b-3b": 0.6, "c-7b": third } } });
    expect(predictingRequest(weighed(0.7), "s1").confidence).toBe("accuracy-weighted");
    expect(predictSkips(weighed(0.7), testSample(), testReport())).toMatch(/^predicted/);
    expect(predictSkips(weighed(0.8), testSample(), testReport())).toContain("votes weigh otherwise");
  });

  it("is nothing where other experts than the sample's recruits are asked", () => {
    const asked = { expertsPerQuestion: 2, quorum: 2 };
    expect(predictSkips(testEnsemble(asked), testSample(), testReport())).toContain("recruits");
    expect(predictSkips(testEnsemble({ ...asked, skills: { "*": { "a-1b": 0.5 } } }), testSample(), testReport())).toMatch(/^predicted/);
  });
});
