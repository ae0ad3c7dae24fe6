import { expect, it } from "vitest";
import { PLANNED_LOAD } from "./plannedLoad";
import { boundText, loadSays } from "./wording";

it("says of a load what it means for a plan: planned for, over what is, or more than there can be", () => {
  expect(loadSays(0.754)).toBe("75 %");
  expect(loadSays(PLANNED_LOAD)).toBe("90 %");
  expect(loadSays(0.93)).toBe("93 %: over the 90 % that is planned for");
  expect(loadSays(1.01)).toBe("unstable: does not keep up");
});

it("never says of a lower bound more than is held", () => {
  expect([61.99, 62, 62.04].map(boundText)).toEqual(["61.9", "62.0", "62.0"]);
});
