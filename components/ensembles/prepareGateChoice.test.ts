import { expect, it } from "vitest";
import { NO_AGGREGATOR, prepareGateChoice } from "./prepareGateChoice";
import { testEnsemble, testSample } from "./testGate";

const view = { sample: null, experts: null, asked: null, aggregator: null, confidence: "plurality", allowed: null } as const;

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
