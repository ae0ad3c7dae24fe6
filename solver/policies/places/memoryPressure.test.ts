import { describe, expect, it } from "vitest";
import type { Reading } from "../core/policy";
import { type MemoryPressure, noPressure, pressureAfter } from "./memoryPressure";

interface Look {
  readonly use?: number;
  readonly preemptions?: number;
  readonly late?: boolean;
  /** Replaces the readings above. */
  readonly reading?: Reading;
  readonly ageSeconds?: number;
}

const fresh = (value: number | undefined, ageSeconds: number): Reading =>
  value === undefined ? { state: "absent" } : { state: "fresh", value, ageSeconds };

/** Why nothing is sent after each check, one a second. */
function suspensions(...looks: readonly Look[]): readonly (string | null)[] {
  let pressure: MemoryPressure = noPressure;
  return looks.map(({ use, preemptions, late = false, reading, ageSeconds = 0 }, nowSeconds) => {
    const readings = { kvUse: reading ?? fresh(use, ageSeconds), preemptions: reading ?? fresh(preemptions, ageSeconds) };
    pressure = pressureAfter(pressure, { ...readings, runsLate: () => late }, nowSeconds);
    return pressure.suspended;
  });
}

describe("memory pressure", () => {
  it("begins with a rise of preemptions, not with how many there were before", () => {
    expect(suspensions({ preemptions: 7, use: 0.5 }, { preemptions: 7, use: 0.5 }, { preemptions: 8, use: 0.5 })).toEqual([
      null,
      null,
      "preempts",
    ]);
  });

  it("ends with a reading without a rise that finds the cache relieved, and not while that is fuller", () => {
    const looks = [0.99, 0.99, 0.97, 0.91, 0.89].map((use, at) => ({ use, preemptions: Math.min(1, at) }));
    expect(suspensions(...looks)).toEqual([null, "preempts", "preempts", "preempts", null]);
  });

  it("begins with a nearly full cache only while requests run late", () => {
    expect(
      suspensions({ use: 0.97 }, { use: 0.94, late: true }, { use: 0.95, late: true }, { use: 0.92 }, { use: 0.8, late: true }),
    ).toEqual([null, null, "nearly-full-and-late", "nearly-full-and-late", null]);
  });

  it("takes each reading once, however often it is looked at", () => {
    const same = { preemptions: 2, use: 0.2 };
    const looks = [{ preemptions: 1, use: 0.2 }, same, { ...same, ageSeconds: 1 }, { ...same, ageSeconds: 2 }, { ...same, ageSeconds: 2 }];
    expect(suspensions(...looks)).toEqual([null, "preempts", "preempts", "preempts", null]);
  });

  it.each<Reading>([{ state: "absent" }, { state: "unreachable" }, { state: "stale", value: 9, ageSeconds: 5 }])(
    "is not known without fresh readings ($state): then nothing is suspended, and preemptions are counted anew",
    (reading) => {
      const looks = [{ preemptions: 1, use: 1 }, { preemptions: 2, use: 1 }, { reading }, { preemptions: 5, use: 1 }];
      expect(suspensions(...looks)).toEqual([null, "preempts", null, null]);
    },
  );

  it("goes by whichever of the two readings is there", () => {
    expect(suspensions({ preemptions: 1 }, { preemptions: 2 }, { preemptions: 2 })).toEqual([null, "preempts", null]);
    expect(suspensions({ use: 1, late: true }, { use: 0.5 })).toEqual(["nearly-full-and-late", null]);
  });

  it("takes a counter that fell for an engine that was started anew", () => {
    expect(suspensions({ preemptions: 9, use: 0.1 }, { preemptions: 0, use: 0.1 }, { preemptions: 1, use: 0.1 })).toEqual([
      null,
      null,
      "preempts",
    ]);
  });
});
