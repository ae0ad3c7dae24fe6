import { expect, it } from "vitest";
import { prepareRollBack } from "./RollBack";

const previous = { name: "before", planId: "a5d96487ffff", policyHash: "913ff2376932ffff" };

it("names the plan and the policy that a roll back goes back to", () => {
  const { button, hindered, goesTo } = prepareRollBack(previous, false);
  expect(button).toBe("Roll back routing to a5d96487");
  expect(hindered).toBeNull();
  expect(goesTo).toBe("plan a5d96487 with policy 913ff237 (before)");
});

it("says why there is nothing to go back to, and leaves it to a gateway that does not say", () => {
  expect(prepareRollBack(null, false).hindered).toBe("No other plan was in force before this one.");
  expect(prepareRollBack(undefined, false).hindered).toBeNull();
});

it("waits until an application is over", () => {
  expect(prepareRollBack(previous, true).hindered).toMatch(/being applied/);
});
