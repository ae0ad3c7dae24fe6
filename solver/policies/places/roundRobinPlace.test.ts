import { describe, expect, it } from "vitest";
import type { Slots } from "../core/policyParts";
import { roundRobinPlace } from "./roundRobinPlace";

function slots(inFlight: readonly number[], capacity: readonly number[]): Omit<Slots, "kvUse" | "kvTokens" | "preemptions"> {
  return {
    model: "m",
    replicaIds: inFlight.map((_, index) => `r${index}`),
    inFlight: Int32Array.from(inFlight),
    capacity: Int32Array.from(capacity),
  };
}

describe("roundRobinPlace", () => {
  it("goes on from where it was and skips the full", () => {
    const place = roundRobinPlace();
    const three = slots([0, 4, 0], [4, 4, 4]);
    expect([place.choose(three), place.choose(three), place.choose(three)]).toEqual([0, 2, 0]);
  });

  it("survives a replica leaving", () => {
    const place = roundRobinPlace();
    place.choose(slots([0, 4], [4, 4]));
    place.choose(slots([4, 0], [4, 4]));
    expect(place.choose(slots([0], [4]))).toBe(0);
  });
});
