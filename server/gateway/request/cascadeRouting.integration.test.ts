import { describe, expect, it } from "vitest";
import type { GateDocument } from "@/solver/gates/gateDocument";
import type { CascadeRoutingDocument } from "@/solver/nextModel/cascadeRoutingDocument";
import type { CascadePolicy } from "@/solver/plan/plan";
import { type Answer, sayCompletion, startTestEngine } from "../testing/testEngine";
import { sayScored } from "../testing/testGates";
import { hashed, startTestGateway, type TestCascade, testConfig } from "../testing/testGateway";

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
  const judge = await startTestEngine((_, response) => sayCompletion(response, score, "weir-judge"));
  const said: Answer = ({ body }, response) => sayCompletion(response, String(body.model), String(body.model));
  return { ...(await routed(said, { judgeUrl: judge.url }, routing)), judge };
}

/** A gateway whose engines are not sure of their answer's least sure token, without a judge. */
async function gatedGateway(probability: number, gate: GateDocument, gpuSeconds = 0) {
  const fitted = { ...routing, gates: routing.gates.map((own) => own && { ...own, kind: gate.kind, gpuSeconds }) };
  const said: Answer = (request, response) =>
    sayScored(request, response, [
      ["It is ", 0.99],
      ["4", probability],
    ]);
  return routed(said, { gates: [gate, gate] }, fitted);
}

async function routed(said: Answer, given: Partial<TestCascade>, cascadeRouting: CascadeRoutingDocument) {
  const engines = await Promise.all(names.map(() => startTestEngine(said)));
  const gateway = await startTestGateway();
  const stages = names.map((model, at) => ({ model, urls: [engines[at]?.url ?? ""] }));
  const config = testConfig({ stages, thresholds: [70, 70], ...given });
  const directStart: CascadePolicy["directStart"] = { below: [0, 0], router: { kind: "modelled", auc: 0.7 } };
  await gateway.put({ ...config, ...hashed({ ...(config.policy as CascadePolicy), directStart, cascadeRouting }) });
  const ask = async (scores: string, more: Record<string, unknown> = {}) => {
    const headers = { "content-type": "application/json", "x-weir-router-scores": scores };
    const answer = await gateway.chat(more, { headers });
    expect(answer.status).toBe(200);
    const text = await answer.text();
    return { model: answer.headers.get("x-weir-model"), text, decision: (await gateway.decisions()).at(-1) };
  };
  return { ask, engines, asked: () => engines.map(({ asked }) => asked.length) };
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

describe("cascade routing over another gate at the gateway", () => {
  const confidence: GateDocument = { kind: "confidence", measure: "minimum", calibration };
  const agreement: GateDocument = { kind: "agreement", answer: "number", samples: { count: 2, temperature: 0.8 }, calibration };
  const open = "small=50, medium=50, large=90";

  it("sends an answer that its model is not sure of past the model that gains too little, without a judge", async () => {
    const { ask, asked } = await gatedGateway(0.05, confidence);
    const { model, text, decision } = await ask(open);
    expect(model).toBe("large");
    expect(asked()).toEqual([1, 0, 1]);
    expect(text).not.toContain("top_logprobs");
    expect(decision).toMatchObject({
      startReason: "largest-expected-gain",
      stages: [
        { verdict: "escalated", reason: "largest-expected-gain", judgedScore: 5, judgeSeconds: null, gate: { kind: "confidence" } },
        { model: "large", verdict: "accepted", reason: "last-stage" },
      ],
    });
    expect(decision?.stages[0]?.gain?.options.map((option) => option.model)).toEqual(["medium", "large"]);
  });

  it("accepts an answer that its model is sure of, also of a stream that was held back, with no trace of the gate", async () => {
    const { ask, asked } = await gatedGateway(0.99, confidence);
    for (const stream of [false, true]) {
      const { model, text, decision } = await ask(open, { stream });
      expect(model).toBe("small");
      expect(text).not.toContain("top_logprobs");
      expect(decision?.stages).toMatchObject([{ verdict: "accepted", reason: "no-gain-worth-its-cost", judgedScore: 99 }]);
    }
    expect(asked()).toEqual([2, 0, 0]);
  });

  it("decides as over a judge of the same scores", async () => {
    for (const score of [5, 30, 60, 80, 95]) {
      const [judged, gated] = [await routedGateway(String(score)), await gatedGateway(score / 100, confidence)];
      for (const scores of [open, "small=80, medium=85, large=95", "small=20, medium=70, large=75"]) {
        const [one, other] = [await judged.ask(scores), await gated.ask(scores)];
        const decided = ({ decision }: typeof one) => decision?.stages.map(({ model, verdict, reason }) => [model, verdict, reason]);
        expect(decided(other), `${score} at ${scores}`).toEqual(decided(one));
      }
    }
  });

  it("asks for log probabilities and further answers only where a score is worth what it takes", async () => {
    const certain = "small=97, medium=97, large=98";
    const sure = await gatedGateway(0.05, confidence);
    await sure.ask(certain);
    await sure.ask(open);
    expect(sure.engines[0]?.asked.map(({ body }) => body.logprobs)).toEqual([undefined, true]);
    const sampled = await gatedGateway(0.9, agreement);
    await sampled.ask(certain);
    expect(sampled.asked()).toEqual([1, 0, 0]);
    const { decision } = await sampled.ask(open);
    expect(sampled.asked()).toEqual([4, 0, 0]);
    expect(decision?.stages).toMatchObject([{ verdict: "accepted", judgedScore: 100, gate: { kind: "agreement" } }]);
    // Samples that take more than any answer gains are never asked for.
    const dear = await gatedGateway(0.9, agreement, 60);
    expect((await dear.ask("small=85, medium=50, large=86")).decision?.stages).toMatchObject([
      { model: "small", verdict: "accepted", reason: "no-gain-at-any-score", judgedScore: null },
    ]);
    expect(dear.asked()).toEqual([1, 0, 0]);
  });
});
