import { describe, expect, it } from "vitest";
import { identifyModels } from "@/components/ui/modelIdentity";
import { servedModels } from "../charts/prepareSubjects";
import { testEngine, testFrame } from "../testing/testFrame";
import { lineOf, lineWords, stageRows, stageScale } from "./prepareLive";

const identities = identifyModels(["small-8b"]);

describe("live preparers", () => {
  it("leave a stage of the plan in place while the gateway has measured nothing of it", () => {
    const plan = {
      policy: { kind: "cascade", stages: [{ model: "small-8b" }] },
      predictions: { stages: [{ model: "small-8b", p95Seconds: 3, share: 1 }] },
    } as unknown as Parameters<typeof stageRows>[1];
    expect(stageRows(testFrame(), plan, identities)[0]).toMatchObject({ measured: null, predictedP95Seconds: 3 });
  });

  it("predict nothing of a plan that chooses models just in time: its figures are of the plan it was made of", () => {
    const plan = {
      policy: { kind: "just-in-time", models: [{ model: "small-8b" }] },
      predictions: { stages: [{ model: "small-8b", p95Seconds: 3, share: 1 }] },
    } as unknown as Parameters<typeof stageRows>[1];
    expect(stageRows(testFrame(), plan, identities)[0]).toMatchObject({
      model: "small-8b",
      predictedP95Seconds: null,
      predictedShare: null,
    });
  });

  it("tell what waits for whichever model has room first where a policy has requests wait so, or some still do", () => {
    const gateway = testFrame().gateway;
    const line = (queuedForAny: number | null, kind: string) =>
      lineOf(testFrame({ gateway: { ...gateway, queuedForAny, routing: { policy: { kind } } as unknown as typeof gateway.routing } }));
    expect([line(0, "cascade"), line(3, "cascade"), line(0, "just-in-time"), line(null, "just-in-time")]).toEqual([null, 3, 0, null]);
    expect([1, 4000].map(lineWords)).toEqual([expect.stringMatching(/^1 request waits /), expect.stringMatching(/^4,000 requests wait /)]);
  });

  it("mark a prediction that reaches beyond what its step times were fitted to, and no other", () => {
    const predicted = { p95Seconds: 3, share: 1 };
    const plan = {
      policy: { kind: "cascade", stages: [{ model: "small-8b" }, { model: "large-70b" }] },
      predictions: {
        stages: [
          { ...predicted, model: "small-8b", extrapolated: ["batch of 300"] },
          { ...predicted, model: "large-70b", extrapolated: [] },
        ],
      },
    } as unknown as Parameters<typeof stageRows>[1];
    expect(stageRows(testFrame(), plan, identities).map(({ doubt }) => doubt)).toEqual([
      { tone: "hatched", word: "extrapolated", reason: "small-8b: batch of 300." },
      null,
    ]);
  });

  it("draw all stages on one scale, which the longest of them sets", () => {
    const row = (p95Seconds: number | null, predictedP95Seconds: number | null) =>
      ({ measured: { p95Seconds }, predictedP95Seconds }) as Parameters<typeof stageScale>[0][number];
    expect(stageScale([row(2, 3), row(10, 8)])).toBe(12.5);
    expect(stageScale([row(null, null)])).toBeGreaterThan(0);
    expect(stageScale([])).toBeGreaterThan(0);
  });

  it("keep a model that is served no more, after those of the plan", () => {
    const plan = { policy: { kind: "cascade", stages: [{ model: "small-8b" }, { model: "large-70b" }] } } as unknown as Parameters<
      typeof servedModels
    >[1];
    const frames = [testFrame({ engines: [testEngine("e0", { model: "old-13b" })] }), testFrame({ engines: [testEngine("e1")] })];
    expect(servedModels(frames, plan)).toEqual(["small-8b", "large-70b", "old-13b"]);
  });
});
