import { expect, it } from "vitest";
import { prepareShadow } from "./prepareShadow";

const shadow = {
  starts: { same: 90, different: 10 },
  verdicts: { same: 60, acceptsMore: 15, escalatesMore: 5 },
  finalModels: {
    unknown: { actual: 0, candidate: 20 },
    "small-8b": { actual: 30, candidate: 50 },
    "large-70b": { actual: 70, candidate: 30 },
  },
};

it("gives counts with their shares, and models by how often they answer, what is not known last", () => {
  const { starts, verdicts, finals, knownShare } = prepareShadow(shadow);
  expect(starts.map(({ share }) => share)).toEqual([0.9, 0.1]);
  expect(verdicts).toContainEqual({ name: "accepts what is escalated", count: 15, share: 0.1875 });
  expect(finals.map(({ model }) => model)).toEqual(["large-70b", "small-8b", null]);
  expect(finals[2]).toMatchObject({ actual: null, candidateShare: 0.2 });
  expect(knownShare).toBe(0.8);
});

it("gives no share of nothing", () => {
  const { starts, finals, knownShare } = prepareShadow({
    starts: { same: 0, different: 0 },
    verdicts: { same: 0, acceptsMore: 0, escalatesMore: 0 },
    finalModels: {},
  });
  expect(starts[0]).toEqual({ name: "same model", count: 0, share: null });
  expect([finals, knownShare]).toEqual([[], null]);
});
