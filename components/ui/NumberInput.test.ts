import { createElement } from "react";
import { renderToStaticMarkup } from "react-dom/server";
import { expect, it } from "vitest";
import { boundsText, isStepped, NumberInput, parseBounded, stepped } from "./NumberInput";

it("takes a number inside the bounds and nothing else", () => {
  const bounds = { min: 0, max: 100 };
  expect(parseBounded("85.5", bounds)).toBe(85.5);
  expect(parseBounded("0", bounds)).toBe(0);
  for (const text of ["", " ", "abc", "101", "-1", "1e9", "NaN"]) expect(parseBounded(text, bounds)).toBeNull();
});

it("takes whole numbers alone where a part of one makes no sense, and says what it takes", () => {
  const bounds = { min: 20, max: 100_000, whole: true };
  expect(parseBounded("20", bounds)).toBe(20);
  for (const text of ["20.5", "5", ""]) expect(parseBounded(text, bounds)).toBeNull();
  expect(boundsText(bounds)).toBe("A whole number from 20 to 100,000");
});

it("tells the browser a step only where the value is on it, so that none between two steps is refused, and arrows step all the same", () => {
  const slack = { min: 0, max: 10, step: 0.25 };
  const drawn = (value: number) => renderToStaticMarkup(createElement(NumberInput, { label: "τ", value, ...slack, onChange: () => {} }));
  expect(drawn(0.75)).toContain('step="0.25"');
  expect(drawn(0.7)).toContain('step="any"');
  expect(isStepped("0.3", { min: 0, step: 0.05 })).toBe(true);
  expect([stepped(0.7, 1, slack), stepped(0.7, -1, slack), stepped(0.1, -1, slack), stepped(9.9, 1, slack)]).toEqual([0.95, 0.45, 0, 10]);
  expect(stepped(0.1, 1, { min: 0, max: 1, step: 0.2 })).toBe(0.3);
});
