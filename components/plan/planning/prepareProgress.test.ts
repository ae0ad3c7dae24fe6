import { describe, expect, it } from "vitest";
import { prepareProgress } from "./prepareProgress";

describe("progress of planning", () => {
  it("is told in words with what is done, and a share only where the whole is known", () => {
    expect(prepareProgress({ phase: "searching", done: 312, of: 1248 })).toEqual({
      phase: "Searching thresholds",
      measure: "312 of 1,248 settings",
      share: 0.25,
    });
    expect(prepareProgress({ phase: "alternating", done: 3, of: null })).toMatchObject({ measure: "3 rounds", share: null });
    expect(prepareProgress({ phase: "simulating", done: 0, of: null })).toMatchObject({ measure: "", share: null });
  });

  it("names the rate that is planned in a search for the highest one, without a share of an unknown number of rates", () => {
    const rate = { requestsPerSecond: 31.25, number: 4 };
    expect(prepareProgress({ phase: "searching", done: 312, of: 1248, rate })).toEqual({
      phase: "Rate 4: planning at 31.3/s",
      measure: "searching thresholds, 312 settings",
      share: null,
    });
    expect(prepareProgress({ phase: "searching", done: 0, of: null, rate })).toMatchObject({ measure: "searching thresholds" });
  });

  it("says that it waits before the planner has said anything", () => {
    expect(prepareProgress(null)).toEqual({ phase: "Waiting for the planner", measure: "", share: null });
  });
});
