import { describe, expect, it } from "vitest";
import { prepareFreshness } from "./prepareFreshness";

const open = { connection: { state: "open" }, lastMs: 100_000, beforeMs: 99_000, nowMs: 100_400 } as const;

describe("how fresh Live is", () => {
  it("is live while samples come, and late after two of their own intervals", () => {
    expect(prepareFreshness(open)).toEqual({ word: "live", tone: "good" });
    expect(prepareFreshness({ ...open, nowMs: 102_400 })).toMatchObject({ tone: "good" });
    expect(prepareFreshness({ ...open, nowMs: 105_000 })).toEqual({ word: "late by 4\u00a0s", tone: "warn" });
    expect(prepareFreshness({ ...open, beforeMs: 95_000, nowMs: 105_000 })).toMatchObject({ tone: "good" });
    expect(prepareFreshness({ ...open, beforeMs: 99_500, nowMs: 102_000 })).toMatchObject({ tone: "warn" });
  });

  it("does not take a long silence before the last sample for the interval", () => {
    expect(prepareFreshness({ ...open, beforeMs: 0, nowMs: 120_000 })).toMatchObject({ tone: "warn" });
  });

  it("says for how long a connection is lost and when it is tried again, where that is known", () => {
    const connection = { state: "lost", sinceMs: 100_000, retryAtMs: null } as const;
    expect(prepareFreshness({ ...open, connection, nowMs: 103_000 })).toMatchObject({
      word: "connection lost for 3 s, reconnecting",
      tone: "bad",
    });
    expect(prepareFreshness({ ...open, connection: { ...connection, retryAtMs: 107_500 }, nowMs: 103_000 }).word).toBe(
      "connection lost for 3 s, reconnecting in 5 s",
    );
  });

  it("waits for the first sample with a word of its own", () => {
    const first = { lastMs: null, beforeMs: null, nowMs: 1 };
    expect(prepareFreshness({ ...first, connection: { state: "connecting" } }).word).toBe("connecting");
    expect(prepareFreshness({ ...first, connection: { state: "open" } }).word).toBe("no sample yet");
  });
});
