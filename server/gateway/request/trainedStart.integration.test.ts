import { describe, expect, it } from "vitest";
import type { CascadePolicy } from "@/solver/plan/plan";
import { learntOf } from "@/solver/plan/policySchema";
import { sayCompletion, startTestEngine } from "../testing/testEngine";
import { hashed, startTestGateway, testConfig } from "../testing/testGateway";
import { longText, putArtefact, shortText, testConfidence } from "../testing/testPredictors";

const names = ["small", "large"];
/** Confident in the small model for short prompts alone. */
const confidence = testConfidence();

/** A gateway under a cascade whose direct start reads the trained predictor; a judge gives every answer 90. */
async function cascadeGateway(threshold: number) {
  const engines = await Promise.all(names.map((model) => startTestEngine((_, response) => sayCompletion(response, model, model))));
  const judge = await startTestEngine((_, response) => sayCompletion(response, "90", "weir-judge"));
  const gateway = await startTestGateway({ predictionSeconds: 5 });
  const stages = names.map((model, at) => ({ model, urls: [engines[at]?.url ?? ""] }));
  const config = testConfig({ stages, thresholds: [threshold], judgeUrl: judge.url });
  const directStart = { below: 60, router: { kind: "trained" as const, predictor: confidence.hash } };
  const started = { ...config, ...hashed({ ...(config.policy as CascadePolicy), directStart }) };
  const ask = async (content: string, scores?: string) => {
    const headers = scores === undefined ? {} : { "x-weir-router-scores": scores };
    const answer = await gateway.post("/v1/chat/completions", { model: "cascade/test", messages: [{ role: "user", content }] }, headers);
    expect(answer.status).toBe(200);
    await answer.text();
    return { model: answer.headers.get("x-weir-model"), decision: (await gateway.decisions()).at(-1) };
  };
  return { gateway, started, ask, judge };
}

describe("a direct start by a trained predictor", () => {
  it("needs the predictor before the policy, and then starts requests at the first model that it is confident of", async () => {
    const { gateway, started, ask, judge } = await cascadeGateway(70);
    expect(learntOf(started.policy)).toEqual([confidence.hash]);
    await expect(gateway.put(started)).rejects.toThrow(/names the predictor [0-9a-f]{12} for confidence, which this gateway does not have/);
    expect((await putArtefact(gateway, confidence)).status).toBe(200);
    await gateway.put(started);
    const short = await ask(shortText("q1"));
    expect(short.model).toBe("small");
    expect(short.decision).toMatchObject({ startReason: "router-score-high-enough", predictions: { confidence: confidence.hash } });
    expect(judge.asked).toHaveLength(1);
    const long = await ask(longText("q2"));
    expect(long.model).toBe("large");
    expect(long.decision).toMatchObject({ startReason: "no-router-score-high-enough", stages: [{ model: "large" }] });
    expect(long.decision?.predictions?.models.small?.confidence).toBeLessThan(0.2);
    expect(judge.asked).toHaveLength(1);
    // The application's own router takes precedence.
    expect((await ask(longText("q3"), "small=61")).model).toBe("small");
  });

  it("judges nothing at a threshold of 0, and needs no judge for it", async () => {
    const { gateway, started, ask, judge } = await cascadeGateway(0);
    await putArtefact(gateway, confidence);
    await gateway.put({ ...started, judge: null });
    const short = await ask(shortText("q1"));
    expect(short).toMatchObject({ model: "small", decision: { stages: [{ verdict: "accepted", reason: "not-judged" }] } });
    expect((await ask(longText("q2"))).model).toBe("large");
    expect(judge.asked).toHaveLength(0);
  });
});
