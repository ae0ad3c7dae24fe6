import { describe, expect, it } from "vitest";
import type { Reading, WaitingWork } from "../core/policy";
import type { Slots } from "../core/policyParts";
import { lowestKvPlace } from "./lowestKvPlace";

const work = {} as WaitingWork;
const fresh = (value: number, ageSeconds = 0): Reading => ({ state: "fresh", value, ageSeconds });

interface Filled extends Slots {
  kvUse: Reading[];
}

function slots(inFlight: readonly number[], kvUse: Reading[], capacity = inFlight.map(() => 10)): Filled {
  return {
    model: "m",
    replicaIds: inFlight.map((_, index) => `r${index}`),
    inFlight: Int32Array.from(inFlight),
    capacity: Int32Array.from(capacity),
    kvUse,
    kvTokens: [],
    preemptions: [],
  };
}

describe("lowestKvPlace", () => {
  it("takes the cache that is fullest least, not the replica with the least in flight", () => {
    expect(lowestKvPlace().choose(slots([1, 5], [fresh(0.8), fresh(0.2)]), work, 0)).toBe(1);
  });

  it("skips replicas without room, and finds none when all are full", () => {
    expect(lowestKvPlace().choose(slots([1, 10], [fresh(0.8), fresh(0.2)]), work, 0)).toBe(0);
    expect(lowestKvPlace().choose(slots([10, 10], [fresh(0.8), fresh(0.2)]), work, 0)).toBe(-1);
  });

  it("counts what was sent since the reading, so that requests between two readings do not herd", () => {
    const place = lowestKvPlace();
    const filling = slots([0, 0], [fresh(0.1), fresh(0.35)]);
    const chosen = Array.from({ length: 5 }, (_, turn) => {
      filling.kvUse = [fresh(0.1, turn * 0.1), fresh(0.35, turn * 0.1)];
      const index = place.choose(filling, work, turn * 0.1);
      filling.inFlight[index]! += 1;
      return index;
    });
    expect(chosen).toEqual([0, 0, 0, 1, 0]);
    filling.kvUse = [fresh(0.1), fresh(0.35)];
    expect(place.choose(filling, work, 5)).toBe(0);
  });

  it.each<Reading>([{ state: "absent" }, { state: "unreachable" }, { state: "stale", value: 0, ageSeconds: 60 }])(
    "places by least load and says so where a reading is $state",
    (reading) => {
      const place = lowestKvPlace();
      const mixed = slots([5, 1, 3], [fresh(0), fresh(0.9), reading]);
      expect(place.choose(mixed, work, 0)).toBe(1);
      expect(place.degraded?.(mixed)).toBe("no-fresh-kv-use-so-least-load");
    },
  );

  it("does not mind the reading of a replica that takes no work", () => {
    const mixed = slots([5, 1, 0], [fresh(0), fresh(0.9), { state: "absent" }], [10, 10, 0]);
    expect(lowestKvPlace().choose(mixed, work, 0)).toBe(0);
    expect(lowestKvPlace().degraded?.(mixed)).toBeNull();
  });
});
