import { expect, it } from "vitest";
import { parseBounded } from "./NumberInput";

it("takes a number inside the bounds and nothing else", () => {
  const bounds = { min: 0, max: 100 };
  expect(parseBounded("85.5", bounds)).toBe(85.5);
  expect(parseBounded("0", bounds)).toBe(0);
  for (const text of ["", " ", "abc", "101", "-1", "1e9", "NaN"]) expect(parseBounded(text, bounds)).toBeNull();
});
