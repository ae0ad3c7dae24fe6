import { describe, expect, it } from "vitest";
import type { WaitingWork } from "../core/policy";
import type { Slots } from "../core/policyParts";
import { affinityPlace } from "./affinityPlace";
import { leastLoadPlace } from "./leastLoadPlace";

const of = (programId: string) => ({ programId }) as WaitingWork;

function slots(inFlight: readonly number[], model = "m"): Slots {
  return {
    model,
    replicaIds: inFlight.map((_, index) => `${model}${index}`),
    inFlight: Int32Array.from(inFlight),
    capacity: Int32Array.from(inFlight, () => 8),
    kvUse: [],
    kvTokens: [],
    preemptions: [],
  };
}

describe("affinityPlace", () => {
  it("sends a program back to its last replica while that is no busier than the ratio allows", () => {
    const place = affinityPlace(leastLoadPlace, { ratio: 0.5 });
    expect(place.choose(slots([3, 2]), of("p"), 0)).toBe(1);
    expect(place.choose(slots([1, 2]), of("p"), 0)).toBe(1);
    expect(place.choose(slots([1, 2]), of("other"), 0)).toBe(0);
  });

  it("gives way under pressure, and stays where it went", () => {
    const place = affinityPlace(leastLoadPlace, { ratio: 0.5 });
    place.choose(slots([3, 2]), of("p"), 0);
    expect(place.choose(slots([1, 3]), of("p"), 0)).toBe(0);
    expect(place.choose(slots([2, 1]), of("p"), 0)).toBe(0);
  });

  it("gives way when the last replica is full or gone, and finds none when all are full", () => {
    const place = affinityPlace(leastLoadPlace, { ratio: 100 });
    place.choose(slots([3, 2]), of("p"), 0);
    expect(place.choose(slots([7, 8]), of("p"), 0)).toBe(0);
    expect(place.choose(slots([8, 8]), of("p"), 0)).toBe(-1);
    expect(place.choose({ ...slots([5, 1]), replicaIds: ["x", "y"] }, of("p"), 0)).toBe(1);
  });

  it("remembers one replica for each model of a program until the program ends", () => {
    const place = affinityPlace(leastLoadPlace, { ratio: 9 });
    place.choose(slots([1, 0], "small"), of("p"), 0);
    place.choose(slots([0, 1], "large"), of("p"), 0);
    expect(place.choose(slots([0, 1], "small"), of("p"), 0)).toBe(1);
    expect(place.choose(slots([1, 0], "large"), of("p"), 0)).toBe(0);
    place.observe?.({ kind: "ended", programId: "p" });
    expect(place.choose(slots([0, 1], "small"), of("p"), 0)).toBe(0);
  });
});
