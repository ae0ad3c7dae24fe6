import { describe, expect, it } from "vitest";
import { testEnsemble, testReport, testSample } from "../testing/testGate";
import { predictingRequest, predictingSample, predictSkips } from "./predictSkips";

const experts = testEnsemble().experts;

describe("the sample that a served ensemble is held against", () => {
  const without = testSample({ id: "other", models: testSample().models.slice(1) });
  const modelled = testSample({ id: "modelled", origin: "modelled" });
  const tried = testSample({ id: "tried", origin: "emulated" });
  const uploaded = testSample({ id: "uploaded" });
  const real = { experts, emulated: false };
  const emulated = { experts, emulated: true };
  it("is the one that is named, and none that lacks an expert", () => {
    expect(predictingSample([modelled, uploaded], "modelled", real)?.id).toBe("modelled");
    expect(predictingSample([without, modelled, uploaded], "other", real)?.id).toBe("uploaded");
    expect(predictingSample([without], "other", real)).toBeNull();
  });

  it("is else the newest of the kind of its engines, as a batch's is", () => {
    expect(predictingSample([tried, modelled, uploaded], null, real)?.id).toBe("uploaded");
    expect(predictingSample([uploaded, modelled, tried], "gone", emulated)?.id).toBe("modelled");
    expect(predictingSample([tried, modelled], null, real)).toBeNull();
    expect(predictingSample([uploaded], null, emulated)).toBeNull();
  });
});

describe("what a sample predicts at the tau in force", () => {
  it("is what skips at the first tau that decides as this one does", () => {
    const at = (tau: number) => predictSkips(testEnsemble({ tau }), testSample(), testReport());
    expect(at(2 / 3)).toEqual({ value: "85.0\u00a0%", detail: "84.0 to 86.0\u00a0% by the sample answers, uploaded" });
    expect([at(0.5).value, at(1).value]).toEqual(["85.0\u00a0%", "45.0\u00a0%"]);
  });

  it("is nothing where votes weigh otherwise in the ensemble", () => {
    const weighed = (third: number) =>
      testEnsemble({ confidence: { kind: "accuracy-weighted", accuracy: { "a-1b": 0.5, "b-3b": 0.6, "c-7b": third } } });
    expect(predictingRequest(weighed(0.7), "s1").confidence).toBe("accuracy-weighted");
    expect(predictSkips(weighed(0.7), testSample(), testReport()).value).toBe("45.0\u00a0%");
    expect(predictSkips(weighed(0.8), testSample(), testReport())).toMatchObject({
      value: "–",
      detail: expect.stringContaining("have other weights"),
    });
  });

  it("is nothing where other experts than the sample's recruits are asked", () => {
    const asked = { expertsPerQuestion: 2, quorum: 2 };
    expect(predictSkips(testEnsemble(asked), testSample(), testReport()).detail).toContain("recruits");
    expect(predictSkips(testEnsemble({ ...asked, skills: { "*": { "a-1b": 0.5 } } }), testSample(), testReport()).value).toBe(
      "45.0\u00a0%",
    );
  });
});
