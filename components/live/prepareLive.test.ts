import { describe, expect, it } from "vitest";
import { identifyModels } from "../ui/modelIdentity";
import { servedModels, stageRows } from "./prepareLive";
import { testEngine, testFrame } from "./testFrame";

const identities = identifyModels(["small-8b"]);

describe("live preparers", () => {
  it("leave a stage of the plan in place while the gateway has measured nothing of it", () => {
    const plan = {
      policy: { kind: "cascade", stages: [{ model: "small-8b" }] },
      predictions: { stages: [{ model: "small-8b", p95Seconds: 3, share: 1 }] },
    } as unknown as Parameters<typeof stageRows>[1];
    expect(stageRows(testFrame(), plan, identities)[0]).toMatchObject({ measured: null, predictedP95Seconds: 3 });
  });

  it("keep a model that is served no more, after those of the plan", () => {
    const plan = { policy: { kind: "cascade", stages: [{ model: "small-8b" }, { model: "large-70b" }] } } as unknown as Parameters<
      typeof servedModels
    >[1];
    const frames = [testFrame({ engines: [testEngine("e0", { model: "old-13b" })] }), testFrame({ engines: [testEngine("e1")] })];
    expect(servedModels(frames, plan)).toEqual(["small-8b", "large-70b", "old-13b"]);
  });
});
