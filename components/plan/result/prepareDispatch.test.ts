import { expect, it } from "vitest";
import type { SlackPolicy } from "@/solver/plan/policySchema";
import { testDispatch } from "../testing/testDispatch";
import { estimatedDispatch, exactDispatch } from "./prepareDispatch";

const model = (name: string, confidence: number) => ({ model: name, decodeSecondsPerToken: 0.01, maxBatchSize: 64, confidence });
const policy = {
  kind: "slack",
  models: [model("small", 0.7), model("large", 0.9)],
  tau: 1.5,
  deltaScore: 0.05,
} as unknown as SlackPolicy;
const predictions = {
  stages: [
    { model: "large", share: 0.256 },
    { model: "small", share: 0.744 },
  ],
} as unknown as Parameters<typeof exactDispatch>[0]["predictions"];

it("shows a planned slack dispatch by its models with their shares, its tau, its margin and the source of its confidence", () => {
  const { models, facts } = exactDispatch({ policy, predictions });
  expect(models.map(({ model: name, shareText, confidence }) => [name, shareText, confidence])).toEqual([
    ["small", "74\u00a0%", "70\u00a0%"],
    ["large", "26\u00a0%", "90\u00a0%"],
  ]);
  expect(facts.map(({ name, value }) => [name, value])).toEqual([
    ["τ", "1.5"],
    ["Margin", "5\u00a0%"],
    ["Confidence", "stated"],
  ]);
  const learnt = exactDispatch({ policy: { ...policy, learnt: { confidence: "a".repeat(64) } }, predictions });
  expect(learnt.facts.at(-1)?.value).toBe("trained predictor");
});

it("shows an estimate by the shares of its simulated point", () => {
  const { models, facts } = estimatedDispatch(testDispatch, testDispatch.points[1]!);
  expect(models.map(({ model: name, shareText }) => [name, shareText])).toEqual([
    ["small", "60\u00a0%"],
    ["large", "40\u00a0%"],
  ]);
  expect(facts.map(({ value }) => value)).toEqual(["1", "stated"]);
});
