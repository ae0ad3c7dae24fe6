import { expect, test } from "vitest";
import { freeName } from "./freeName";

test("a taken name gets a number", () => {
  expect(freeName("a", new Set())).toBe("a");
  expect(freeName("a", new Set(["a", "a 2"]))).toBe("a 3");
});
