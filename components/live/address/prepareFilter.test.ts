import { describe, expect, it } from "vitest";
import { isFiltered, modelOptions, NO_FILTER, scopedFilter, slowerOptions } from "./prepareFilter";

describe("the filter of decisions", () => {
  it("counts as set when any of its conditions is", () => {
    expect(isFiltered(NO_FILTER)).toBe(false);
    expect(isFiltered({ ...NO_FILTER, outcome: "failed" })).toBe(true);
    expect(isFiltered({ ...NO_FILTER, model: "m" })).toBe(true);
    expect(isFiltered({ ...NO_FILTER, slowerThanSeconds: 0 })).toBe(true);
    expect(isFiltered({ ...NO_FILTER, text: "a" })).toBe(true);
  });

  it("is narrowed to the model or engine that is looked at, and not by what was looked at before", () => {
    const chosen = { ...NO_FILTER, model: "large", text: "a" };
    expect(scopedFilter(chosen, "cluster", null)).toEqual({ ...chosen, replica: null });
    expect(scopedFilter(chosen, "engine", "large-1")).toEqual({ ...chosen, replica: "large-1" });
    expect(scopedFilter(chosen, "model", "small")).toEqual({ ...chosen, model: "small", replica: null });
    expect(scopedFilter(chosen, "gpu", "node1")).toEqual({ ...chosen, replica: null });
  });

  it("offers what a link brought, in its place, also a model that is served no more", () => {
    expect(slowerOptions(7.5).map(({ value }) => value)).toEqual(["", "1", "2", "5", "7.5", "10", "30", "60", "120"]);
    expect(slowerOptions(5)).toHaveLength(slowerOptions(null).length);
    expect(modelOptions(["small"], "gone").map(({ value }) => value)).toEqual(["", "small", "gone"]);
    expect(modelOptions(["small"], "small")).toHaveLength(2);
  });
});
