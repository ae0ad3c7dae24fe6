import { expect, it } from "vitest";
import { testEnsemble, testSample } from "../testing/testGate";
import { NO_AGGREGATOR, prepareGateChoice } from "./prepareGateChoice";

const view = { sample: null, experts: null, asked: null, aggregator: null, confidence: null, allowed: null } as const;

it("begins with the ensemble's own experts and aggregator where the sample knows them", () => {
  const ensemble = testEnsemble({ expertsPerQuestion: 2 });
  expect(prepareGateChoice([testSample()], view, ensemble)?.request).toEqual({
    experts: ["a-1b", "b-3b", "c-7b"],
    expertsPerQuestion: 2,
    aggregator: "d-70b",
    confidence: "plurality",
    allowedPoints: 1,
  });
});

it("chooses among samples the one that knows most of the ensemble, unless the address names another", () => {
  const other = testSample({ id: "s2", models: testSample().models.map((each) => ({ ...each, model: `other-${each.model}` })) });
  expect(prepareGateChoice([other, testSample()], view, testEnsemble())?.sample.id).toBe("s1");
  expect(prepareGateChoice([other, testSample()], { ...view, sample: "s2" }, testEnsemble())?.sample.id).toBe("s2");
});

it("leaves the most accurate model to aggregate where no ensemble says who does", () => {
  const { request } = prepareGateChoice([testSample()], view, null) ?? {};
  expect(request).toMatchObject({ experts: ["c-7b", "b-3b", "a-1b"], aggregator: "d-70b", expertsPerQuestion: 3 });
});

it("asks three experts a question where they are others than the ensemble's, however many that asks", () => {
  const ensemble = testEnsemble({ experts: ["x", "y"], expertsPerQuestion: 2 });
  expect(prepareGateChoice([testSample()], view, ensemble)?.request.expertsPerQuestion).toBe(3);
});

it("weighs votes as the ensemble does, unless the address says otherwise", () => {
  const weighed = testEnsemble({ confidence: { kind: "accuracy-weighted", accuracy: { "a-1b": 0.5, "b-3b": 0.6, "c-7b": 0.7 } } });
  const kindOf = (confidence: "plurality" | null, ensemble: typeof weighed | null) =>
    prepareGateChoice([testSample()], { ...view, confidence }, ensemble)?.request.confidence;
  expect([kindOf(null, weighed), kindOf("plurality", weighed), kindOf(null, null)]).toEqual([
    "accuracy-weighted",
    "plurality",
    "plurality",
  ]);
});

it("takes no expert for the stand-in where another could be, and says so where there is none or one is asked for", () => {
  const both = testEnsemble({ aggregator: { model: "c-7b" } });
  expect(prepareGateChoice([testSample()], view, both)).toMatchObject({ request: { aggregator: "d-70b" }, doubt: null });
  expect(prepareGateChoice([testSample()], { ...view, aggregator: "c-7b" }, both)?.doubt).toContain("c-7b is an expert here");
  const three = testSample({ models: testSample().models.slice(0, 3) });
  expect(prepareGateChoice([three], view, both)).toMatchObject({ request: { aggregator: "c-7b" }, doubt: expect.any(String) });
});

it("takes of the address what the sample knows, and no aggregator at a word", () => {
  const named = { ...view, experts: ["b-3b", "gone", "c-7b"], asked: 9, aggregator: NO_AGGREGATOR, allowed: 0 };
  expect(prepareGateChoice([testSample()], named, testEnsemble())?.request).toMatchObject({
    experts: ["b-3b", "c-7b"],
    expertsPerQuestion: 2,
    aggregator: null,
    allowedPoints: 0,
  });
});

it("says what hinders a gate of one, and that a sample strayed", () => {
  const choice = prepareGateChoice([testSample()], { ...view, experts: ["a-1b"], sample: "gone" }, null);
  expect(choice).toMatchObject({ strayed: true });
  expect(choice?.hindered).toContain("two experts");
  expect(prepareGateChoice([], view, null)).toBeNull();
});
