import { describe, expect, it } from "vitest";
import type { ConfidenceMeasure } from "./gateDocument";
import { isSameReading, tokenConfidence } from "./tokenConfidence";

const texts = ["The", " answer", " is", " 4", "2", ".", "<end>"];
const probabilities = [0.2, 0.8, 0.9, 0.5, 0.7, 0.6, 1];
const tokens = { texts, logProbabilities: Float64Array.from(probabilities, Math.log) };
const answer = "The answer is 42.";

const read = (measure: ConfidenceMeasure, more: object = {}) => tokenConfidence({ answer, tokens }, { measure, ...more });

describe("isSameReading", () => {
  it("compares what a measure reads alone", () => {
    expect(isSameReading({ measure: "minimum" }, { measure: "minimum", lastTokens: 3 })).toBe(true);
    expect(isSameReading({ measure: "minimum" }, { measure: "mean" })).toBe(false);
    expect(isSameReading({ measure: "last-tokens" }, { measure: "last-tokens", lastTokens: 10 })).toBe(true);
    expect(isSameReading({ measure: "last-tokens" }, { measure: "last-tokens", lastTokens: 3 })).toBe(false);
    expect(isSameReading({ measure: "answer-span" }, { measure: "answer-span", answer: "whole" })).toBe(true);
    expect(isSameReading({ measure: "answer-span" }, { measure: "answer-span", answer: "number" })).toBe(false);
  });
});

describe("tokenConfidence", () => {
  it("reads the minimum, the mean and the length-normalised probability of all tokens", () => {
    expect(read("minimum")).toBeCloseTo(0.2, 12);
    expect(read("mean")).toBeCloseTo(probabilities.reduce((a, b) => a + b) / 7, 12);
    expect(read("length-normalised")).toBeCloseTo(probabilities.reduce((a, b) => a * b) ** (1 / 7), 12);
  });

  it("reads the last tokens alone, and all of them where there are fewer", () => {
    expect(read("last-tokens", { lastTokens: 3 })).toBeCloseTo((0.7 * 0.6) ** (1 / 3), 12);
    expect(read("last-tokens", { lastTokens: 50 })).toBeCloseTo(read("length-normalised") ?? Number.NaN, 12);
  });

  it("reads the tokens of the extracted answer, also where it starts within a token", () => {
    expect(read("answer-span", { answer: "number" })).toBeCloseTo(0.5, 12);
    const boxed = {
      texts: ["So \\box", "ed{", "7", "1} is", " it"],
      logProbabilities: Float64Array.from([0.1, 0.3, 0.9, 0.6, 0.2], Math.log),
    };
    const span = { answer: "So \\boxed{71} is it", tokens: boxed };
    expect(tokenConfidence(span, { measure: "answer-span", answer: "boxed" })).toBeCloseTo(0.6, 12);
  });

  it("reads the chosen letter, not a later article", () => {
    const letters = ["Answer: ", "A", " is", " a", " fit"];
    const read = { texts: letters, logProbabilities: Float64Array.from([0.9, 0.7, 0.9, 0.1, 0.2], Math.log) };
    const span = { answer: letters.join(""), tokens: read };
    expect(tokenConfidence(span, { measure: "answer-span", answer: "choice" })).toBeCloseTo(0.7, 12);
  });

  it("reads the whole answer where nothing can be extracted", () => {
    expect(read("answer-span", { answer: "boxed" })).toBeCloseTo(0.2, 12);
    expect(read("answer-span")).toBeCloseTo(0.2, 12);
  });

  it("reads the answer's own tokens where the model thought of the same words before", () => {
    const thought = { texts: ["4", "2?", "</think>", "4", "2"], logProbabilities: Float64Array.from([0.1, 0.2, 0.9, 0.8, 0.7], Math.log) };
    expect(tokenConfidence({ answer: "42", tokens: thought }, { measure: "answer-span", answer: "number" })).toBeCloseTo(0.7, 12);
  });

  it("reads all tokens where the engine reports them by their numbers", () => {
    const numbered = { texts: ["token_id:17", "token_id:42"], logProbabilities: Float64Array.from([0.3, 0.9], Math.log) };
    expect(tokenConfidence({ answer: "It is 42", tokens: numbered }, { measure: "answer-span", answer: "number" })).toBeCloseTo(0.3, 12);
  });

  it("reads the last line without the special tokens behind it", () => {
    const lines = { texts: ["Hm", "\n", "42", "<|end|>"], logProbabilities: Float64Array.from([0.3, 0.9, 0.8, 0.1], Math.log) };
    expect(tokenConfidence({ answer: "Hm\n42", tokens: lines }, { measure: "answer-span", answer: "last-line" })).toBeCloseTo(0.8, 12);
  });

  it("has none without a log probability", () => {
    const none = { texts: ["a"], logProbabilities: Float64Array.of(Number.NaN) };
    expect(tokenConfidence({ answer: "a", tokens: none }, { measure: "mean" })).toBeNull();
    expect(tokenConfidence({ answer: "", tokens: { texts: [], logProbabilities: new Float64Array() } }, { measure: "minimum" })).toBeNull();
  });
});
