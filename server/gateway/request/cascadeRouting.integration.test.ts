import { describe, expect, it } from "vitest";
import type { CascadeRoutingDocument } from "@/solver/nextModel/cascadeRoutingDocument";
import type { CascadePolicy } from "@/solver/plan/plan";
import { sayCompletion, startTestEngine } from "../testing/testEngine";
import { hashed, startTestGateway, testConfig } from "../testing/testGateway";

const names = ["small", "medium", "large"];
const calibration = { raw: [0, 100], calibrated: [0, 100] };

/** The two smaller models are right on the same prompts, the largest nearly always. */
const routing: CascadeRoutingDocument = {
  pointsPerGpuSecond: 2,
  gpuSeconds: [1, 4, 8],
  heads: names.map(() => ({ centre: 0, slope: 1 })),
  patterns: [-2, -20, -20, -20, -1, -20, -20, -0.5],
  gates: [0, 1].map(() => ({ calibration, levels: [5, 95].map((score) => ({ score, share: 0.5 })) })),
};

/** A gateway under cascade routing, with a judge that gives every answer one score. */
async function routedGateway(score: string) {
  const engines = await Promise.all(names.map((model) => startTestEngine((_, response) => sayCompletion(response, model, model))));
  const judge = await startTestEngine((_, response) => sayCompletion(response, score, "weir-judge"));
  const gateway = await startTestGateway();
  const stages = names.map((model, at) => ({ model, urls: [engines[at]?.url ?? ""] }));
  const config = testConfig({ stages, thresholds: [70, 70], judgeUrl: judge.url });
  const directStart: CascadePolicy["directStart"] = { below: [0, 0], router: { kind: "modelled", auc: 0.7 } };
  await gateway.put({ ...config, ...hashed({ ...(config.policy as CascadePolicy), directStart, cascadeRouting: routing }) });
  const ask = async (scores: string, more: Record<string, unknown> = {}) => {
    const headers = { "content-type": "application/json", "x-weir-router-scores": scores };
    const answer = await gateway.chat(more, { headers });
    expect(answer.status).toBe(200);
    await answer.text();
    return { model: answer.headers.get("x-weir-model"), decision: (await gateway.decisions()).at(-1) };
  };
  return { ask, judge, asked: () => engines.map(({ asked }) => asked.length) };
}

describe("cascade routing at the gateway", () => {
  it("sends a poor answer's request past the model that gains too little, and records the terms of both choices", async () => {
    const { ask, judge, asked } = await routedGateway("5");
    const { model, decision } = await ask("small=50, medium=50, large=90");
    expect(model).toBe("large");
    expect(asked()).toEqual([1, 0, 1]);
    expect(judge.asked).toHaveLength(1);
    expect(decision).toMatchObject({
      startReason: "largest-expected-gain",
      startGain: { quality: null, pointsPerGpuSecond: 2, options: names.map((each) => ({ model: each })) },
      stages: [
        { model: "small", verdict: "escalated", reason: "largest-expected-gain", judgedScore: 5, threshold: null },
        { model: "large", verdict: "accepted", reason: "last-stage" },
      ],
    });
    const gain = decision?.stages[0]?.gain;
    expect(gain?.options.map((option) => option.model)).toEqual(["medium", "large"]);
    const [medium, large] = gain?.options ?? [];
    expect((large?.quality ?? 0) - 2 * (large?.gpuSeconds ?? 0)).toBeGreaterThan((medium?.quality ?? 0) - 2 * (medium?.gpuSeconds ?? 0));
  });

  it("accepts an answer that no larger model is expected to improve enough, also of a stream that was held back", async () => {
    const { ask, asked } = await routedGateway("99");
    for (const stream of [false, true]) {
      const { model, decision } = await ask("small=50, medium=50, large=90", { stream });
      expect(model).toBe("small");
      expect(decision?.stages).toMatchObject([{ verdict: "accepted", reason: "no-gain-worth-its-cost", judgedScore: 99 }]);
      expect(decision?.stages[0]?.gain?.quality).toBeGreaterThan(90);
    }
    expect(asked()).toEqual([2, 0, 0]);
  });

  it("has an answer scored only where a score could send its request on", async () => {
    const { ask, judge, asked } = await routedGateway("5");
    const { model, decision } = await ask("small=97, medium=97, large=98");
    expect(model).toBe("small");
    expect([judge.asked.length, ...asked()]).toEqual([0, 1, 0, 0]);
    expect(decision?.stages).toMatchObject([{ verdict: "accepted", reason: "no-gain-at-any-score", judgedScore: null }]);
  });

  it("follows the thresholds from the first stage where the router does not score every model", async () => {
    const { ask, asked } = await routedGateway("60");
    const { model, decision } = await ask("small=99, medium=99");
    expect(model).toBe("large");
    expect(asked()).toEqual([1, 1, 1]);
    expect(decision?.startReason).toBe("no-router-score-of-large");
    expect(decision?.startGain).toBeUndefined();
    expect(decision?.stages[0]).toMatchObject({ reason: "score-below-threshold", threshold: 70 });
  });
});
