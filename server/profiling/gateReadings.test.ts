import { describe, expect, it } from "vitest";
import { confidenceReading, rawConfidence, sampleBody, sampleScore } from "./gateReadings";

const answered = (text: string, logProbabilities: readonly number[] | null) => ({
  ...{ kind: "answered" as const, text, inputTokens: 1, outputTokens: 2, cut: false, ttftSeconds: null, seconds: 1 },
  tokens: logProbabilities === null ? null : { texts: [...text], logProbabilities: Float64Array.from(logProbabilities) },
});

describe("what gates see of an answer", () => {
  it("is the smallest token probability as a score", () => {
    expect(rawConfidence(answered("42", [Math.log(0.9), Math.log(0.25)]), { measure: "minimum" })).toBeCloseTo(25, 10);
    expect(rawConfidence(answered("42", null), { measure: "minimum" })).toBeNull();
    expect(rawConfidence(answered("", null), { measure: "minimum" })).toBe(0);
  });

  it("is the measure that the profile asks for, of the part of the answer that its measures compare", () => {
    const exact = { id: "right", name: "right", kind: "exact", extract: "number" } as const;
    const of = (measure?: "mean" | "answer-span") =>
      confidenceReading({ measures: [exact], gates: { confidence: true, samples: null, ...(measure === undefined ? {} : { measure }) } });
    expect([of(), of("mean"), of("answer-span")]).toEqual([
      { measure: "minimum" },
      { measure: "mean" },
      { measure: "answer-span", answer: "number" },
    ]);
    const tokens = [1, 1, 1, 0.5].map(Math.log);
    expect(rawConfidence(answered("is 4", tokens), of("mean"))).toBeCloseTo(87.5, 9);
    expect(rawConfidence(answered("is 4", tokens), of("answer-span"))).toBeCloseTo(50, 9);
  });

  it("is whether a sample gives the same answer after extraction; nothing to compare counts as no agreement", () => {
    expect(sampleScore("so it is 4", "The answer: 4.0", "number")).toBe(100);
    expect(sampleScore("so it is 4", "it is 5", "number")).toBe(0);
    expect(sampleScore("so it is 4", "it is 4", "whole")).toBe(0);
    expect(sampleScore("no idea", "none", "number")).toBe(0);
  });

  it("is sampled with another seed than the prompt's, without the prompt's own log probabilities", () => {
    const body = { messages: [], seed: 7, temperature: 0, logprobs: true, top_logprobs: 2, top_p: 0.9 };
    expect(sampleBody(body, { count: 2, temperature: 1 }, 1)).toEqual({ messages: [], seed: 9, temperature: 1, top_p: 0.9 });
    expect(sampleBody({ messages: [] }, { count: 2, temperature: 0.5 }, 0)).toEqual({ messages: [], temperature: 0.5 });
  });
});
