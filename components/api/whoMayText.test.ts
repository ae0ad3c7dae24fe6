import { expect, it } from "vitest";
import { whoMayText } from "./whoMayText";

it("names those who can, counts many, and says nothing of nobody", () => {
  expect(whoMayText("viewer", [])).toBe("Your role, viewer, does not allow this.");
  expect(whoMayText("viewer", ["ann"])).toBe("Your role, viewer, does not allow this. ann can do it.");
  expect(whoMayText("operator", ["ann", "bob"])).toBe("Your role, operator, does not allow this. ann or bob can do it.");
  expect(whoMayText("operator", ["ann", "bob", "cid", "dee"])).toBe(
    "Your role, operator, does not allow this. ann, bob, cid or dee can do it.",
  );
  expect(whoMayText("operator", ["ann", "bob", "cid", "dee", "eve"])).toBe(
    "Your role, operator, does not allow this. ann, bob, cid or 2 others can do it.",
  );
});
