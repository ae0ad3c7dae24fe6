import { describe, expect, it } from "vitest";
import { isFiltered, modelOptions, NO_FILTER, slowerOptions } from "./prepareFilter";

describe("the filter of decisions", () => {
  it("counts as set when any of its conditions is", () => {
    expect(isFiltered(NO_FILTER)).toBe(false);
    expect(isFiltered({ ...NO_FILTER, outcome: "failed" })).toBe(true);
    expect(isFiltered({ ...NO_FILTER, model: "m" })).toBe(true);
    expect(isFiltered({ ...NO_FILTER, slowerThanSeconds: 0 })).toBe(true);
    expect(isFiltered({ ...NO_FILTER, text: "a" })).toBe(true);
  });

  it("offers what a link brought, in its place, also a model that is served no more", () => {
    expect(slowerOptions(7.5).map(({ value }) => value)).toEqual(["", "1", "2", "5", "7.5", "10", "30", "60", "120"]);
    expect(slowerOptions(5)).toHaveLength(slowerOptions(null).length);
    expect(modelOptions(["small"], "gone").map(({ value }) => value)).toEqual(["", "small", "gone"]);
    expect(modelOptions(["small"], "small")).toHaveLength(2);
  });
});
