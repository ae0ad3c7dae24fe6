import { describe, expect, it } from "vitest";
import { testDecision, testStage } from "../testing/testDecision";
import { costlessText, degradedTexts, reasonText, requestFacts, stageFacts } from "./prepareRecord";

const textOf = (facts: readonly { readonly name: string; readonly text: string }[], name: string) =>
  facts.find((each) => each.name === name)?.text;
const requestOf = (change: Parameters<typeof testDecision>[0]) => requestFacts(testDecision(change));
const stageOf = (change: Parameters<typeof testStage>[1]) => stageFacts(testStage("small", change));

describe("requestFacts", () => {
  it("leave out what a record does not have", () => {
    expect(requestOf({}).map(({ name }) => name)).toEqual(["End to end", "First token after", "Gateway's own time", "Cost"]);
  });

  it("name the model asked for, the candidates with the router's scores, and who asked", () => {
    const facts = requestOf({
      asked: "cascade/default",
      candidates: ["small", "large"],
      routerScores: { small: 41 },
      key: "team-a",
      objective: "batch",
      startReason: "no-router-score-high-enough",
      inputTokens: 1200,
    });
    expect(textOf(facts, "Could go to")).toBe("small, large");
    expect(textOf(facts, "Router's scores")).toBe("small 41");
    expect(textOf(facts, "Key")).toBe("team-a");
    expect(textOf(facts, "Class of work")).toBe("batch");
    expect(textOf(facts, "Prompt, estimated")).toBe("1,200 tokens");
    expect(textOf(facts, "Started at its first stage because")).toBe("no router's score is high enough for an earlier stage");
  });

  it("say what trained predictors said of each model, by which artefacts, and why not all", () => {
    const models = { small: { requestTokens: 120.4, remainingTokens: 480, confidence: 0.82 }, large: { confidence: 0.9 } };
    const facts = requestOf({ predictions: { lengths: "a".repeat(64), confidence: "b".repeat(64), models, absent: "not-loaded" } });
    expect(textOf(facts, "Predictors")).toBe("lengths aaaaaaaaaaaa, confidence bbbbbbbbbbbb");
    expect(textOf(facts, "Predicted by model")?.replaceAll(/\s/g, " ")).toBe(
      "small: 120 tokens, 480 with the rest of its program, 82 % sure; large: 90 % sure",
    );
    expect(textOf(facts, "Not all predicted because")).toBe("one of them cannot be loaded");
    expect(textOf(requestOf({}), "Predictors")).toBeUndefined();
  });

  it("name the agent of a declared workflow, how many configurations were accurate, and who said so", () => {
    const facts = requestOf({
      startReason: "model-chosen-at-dispatch",
      candidates: ["small", "large"],
      call: { workflow: "voting", agent: "voter-1" },
      configurations: { accurate: 81, of: 243, set: [] },
      predictions: { configurations: "c".repeat(64), models: {}, absent: "late" },
    });
    expect(textOf(facts, "Declared workflow")).toBe("voter-1 of voting");
    expect(textOf(facts, "Predicted to be accurate for its program")?.replaceAll(/\s/g, " ")).toBe(
      "81 of 243 configurations (33 %), learnt from executed or modelled outcomes",
    );
    expect(textOf(facts, "Predictors")).toBe("configurations cccccccccccc");
    expect(textOf(facts, "Its model was chosen")).toBe("when an engine had room");
    expect(textOf(facts, "Models of the plan")).toBe("small, large");
    const names = facts.map(({ name }) => name);
    expect(names).not.toContain("Started at its first stage because");
    expect(names).not.toContain("Could go to");
    expect(requestOf({ call: { workflow: "voting", agent: "voter-1" } }).map(({ name }) => name)).not.toContain(
      "Predicted to be accurate for its program",
    );
  });

  it("name the agent that asked, and what its earlier calls taught where the policy asked for that", () => {
    const forecast = { agent: "qa/maths", distanceSeconds: 12, remainingCalls: 2.5, requestSeconds: 4, tokensPerSecond: 30 };
    const facts = requestOf({ agent: "qa/maths", forecast });
    expect(textOf(facts, "Agent")).toBe("qa/maths");
    expect(textOf(facts, "Its answers commonly take")).toBe("4.00\u00a0s");
    expect(textOf(facts, "Its remaining time to the end of its programs")).toBe("12.0\u00a0s");
    expect(textOf(facts, "Remaining calls of its programs")).toBe("2.5");
    expect(requestOf({ agent: "qa/maths" }).map(({ name }) => name)).not.toContain("Its answers commonly take");
  });

  it("say what a request cost, or why that is not known", () => {
    expect(textOf(requestOf({ costUsd: 0.00214 }), "Cost")).toBe("$0.00214");
    expect(textOf(requestOf({}), "Cost")).toBe("not reported by this gateway");
    expect(textOf(requestOf({ costUsd: null }), "Cost")).toContain("no price");
    expect(textOf(requestOf({ costUsd: null, stages: [testStage("small", { inputTokens: null })] }), "Cost")).toContain(
      "small did not count its tokens",
    );
  });

  it("say once why no answer has a cost, and nothing where one has", () => {
    const [unpriced, free] = [testDecision({ costUsd: null }), testDecision({ costUsd: 0 })];
    expect(costlessText([unpriced, unpriced])).toBe(
      "What requests cost is not known: the settings have no price of a model that answered.",
    );
    expect(costlessText([unpriced, free])).toBeNull();
    expect(costlessText([testDecision({ status: 503, stages: [], costUsd: 0 }), unpriced])).toContain("no price");
    expect(costlessText([])).toBeNull();
  });

  it("say that no token was sent rather than show a dash", () => {
    expect(textOf(requestOf({ ttftSeconds: null }), "First token after")).toBe("none was sent");
  });
});

describe("stageFacts", () => {
  it("hold the score against the threshold in words", () => {
    expect(textOf(stageOf({ judgedScore: 41, threshold: 60 }), "Judge's score")).toBe("41.0, below 60");
    expect(textOf(stageOf({ judgedScore: 60, threshold: 60 }), "Judge's score")).toBe("60.0, at or above 60");
    expect(textOf(stageOf({ judgedScore: 57, threshold: 55, plannedThreshold: 60 }), "Judge's score")).toBe(
      "57.0, at or above 55 (lowered by overload from 60)",
    );
    expect(textOf(stageOf({ unscored: "too-late", threshold: 60 }), "Judge's score")).toBe("none (too late); it was to reach 60");
    expect(textOf(stageOf({}), "Judge's score")).toBeUndefined();
  });

  it("tell tokens that nobody counted from none", () => {
    expect(textOf(stageOf({ inputTokens: null, outputTokens: 0 }), "Tokens in, out")).toBe("not counted, 0");
    expect(textOf(stageOf({ verdict: "failed", inputTokens: null }), "Tokens in, out")).toBeUndefined();
  });

  it("say what was known of the engine when it was chosen, and why it was not fresh", () => {
    const facts = stageOf({
      engine: {
        inFlight: 3,
        maxInFlight: 8,
        degraded: "kv use is not known",
        kvUse: { state: "stale", value: 0.5, ageSeconds: 6, reason: "no answer" },
      },
    });
    expect(textOf(facts, "Requests at the engine")).toBe("3 of 8");
    expect(textOf(facts, "KV use when chosen")).toBe("50\u00a0%, stale, 6.00\u00a0s old: no answer");
    expect(textOf(facts, "Reason for another choice")).toBe("kv use is not known");
  });

  it("say how much the engine's cache holds and how often it preempted, where the policy packs memory", () => {
    const engine = { inFlight: 1, maxInFlight: 8, kvCapacity: { tokens: 2500 }, preemptions: { state: "fresh", value: 3 } } as const;
    const facts = stageOf({ engine });
    expect(textOf(facts, "KV cache holds")).toBe("2,500 tokens");
    expect(textOf(facts, "Preemptions there so far")).toBe("3 requests, fresh");
    const unknown = stageOf({ engine: { ...engine, kvCapacity: { tokens: null, reason: "there is no /metrics" } } });
    expect(textOf(unknown, "KV cache holds")).toBe("not known: there is no /metrics");
  });
});

describe("reasons", () => {
  it("read as words, and what the gateway adds stands as it is", () => {
    expect(reasonText("score-below-threshold")).toBe("the score is below the threshold");
    expect(reasonText("judge-unavailable", "no judge is configured")).toBe("the judge gave no score: no judge is configured");
    // The format of older gateways.
    expect(reasonText("judge-unavailable: no judge is configured")).toBe("the judge gave no score: no judge is configured");
    expect(reasonText("the engine answered 500 at node-1")).toBe("the engine answered 500 at node-1");
    expect(reasonText("another-new-reason")).toBe("another new reason");
  });

  it("say in sentences what was out of order", () => {
    expect(degradedTexts(testDecision())).toEqual([]);
    expect(degradedTexts(testDecision({ degraded: ["judge", "telemetry"] }))).toHaveLength(2);
  });
});

describe("stageFacts of an answer that another gate than the judge scored", () => {
  const calls = [
    { model: "peer", outcome: "answered" as const, inputTokens: 7, outputTokens: 3 },
    { model: "peer", outcome: "answered" as const, inputTokens: 7, outputTokens: 3 },
    { model: "other", outcome: "no-free-engine" as const, inputTokens: null, outputTokens: null },
  ];

  it("name the gate, its score and what became of the further answers", () => {
    const facts = stageOf({ judgedScore: 66.67, threshold: 70, gate: { kind: "agreement", seconds: 0.5, calls } });
    expect(textOf(facts, "Gate")).toBe("agreement with further answers");
    expect(textOf(facts, "Gate's score")).toContain("below 70");
    expect(textOf(facts, "Further answers")).toBe("2 answered, 1 no free engine");
    expect(textOf(facts, "Judge's score")).toBeUndefined();
  });

  it("name further answers that were asked for beside an engine call that failed", () => {
    const facts = stageOf({ verdict: "failed", unusedCalls: calls });
    expect(textOf(facts, "Further answers")).toBe("2 answered, 1 no free engine");
    expect(textOf(facts, "Gate")).toBeUndefined();
  });

  it("say why there is no score", () => {
    const gate = { kind: "confidence" as const, seconds: 0 };
    const facts = stageOf({ threshold: 70, unscored: "no-log-probabilities", gate });
    expect(textOf(facts, "Gate's score")).toBe("none (no log probabilities); it was to reach 70");
    expect(textOf(facts, "Further answers")).toBeUndefined();
  });

  it("are those of a judge where the judge is the gate", () => {
    const facts = stageOf({ judgedScore: 80, judgeSeconds: 0.2, gate: { kind: "judge", seconds: 0.2 } });
    expect(textOf(facts, "Gate")).toBeUndefined();
    expect(textOf(facts, "Judge's score")).toContain("80");
  });
});

describe("the terms of a choice by expected gain", () => {
  it("say what was expected of each model and what a gain had to be worth", () => {
    const options = [{ model: "large", quality: 80, gpuSeconds: 4 }];
    const start = requestOf({ startReason: "largest-expected-gain", startGain: { quality: null, pointsPerGpuSecond: 2.5, options } });
    expect(textOf(start, "Expected of each model, going on from there")?.replaceAll(/\s/g, " ")).toBe(
      "large 80.0 after 4.00 s of GPU time",
    );
    expect(textOf(start, "Expected quality of this answer")).toBeUndefined();
    const stage = stageOf({ gain: { quality: 60, pointsPerGpuSecond: 2.5, options } });
    expect(textOf(stage, "Expected quality of this answer")).toBe("60.0");
    expect(textOf(stage, "Expected of each model, going on from there")).toContain("a gain of 5 a GPU-second");
    expect(textOf(stage, "Least gain for each GPU-second")).toBe("2.5");
    expect(reasonText("no-gain-worth-its-cost")).toBe("no larger model is expected to gain enough for its cost");
  });
});
