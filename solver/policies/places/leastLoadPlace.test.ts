import { describe, expect, it } from "vitest";
import type { Slots } from "../core/policyParts";
import { leastLoadPlace } from "./leastLoadPlace";

function slots(inFlight: readonly number[], capacity: readonly number[]): Pick<Slots, "inFlight" | "capacity"> {
  return {
    inFlight: Int32Array.from(inFlight),
    capacity: Int32Array.from(capacity),
  };
}

describe("leastLoadPlace", () => {
  it("weighs load by what a replica may hold", () => {
    expect(leastLoadPlace.choose(slots([2, 3], [4, 64]))).toBe(1);
  });

  it("takes the first of equals", () => {
    expect(leastLoadPlace.choose(slots([1, 2, 2], [4, 8, 8]))).toBe(0);
  });

  it("finds none when all are full or cordoned", () => {
    expect(leastLoadPlace.choose(slots([4, 0], [4, 0]))).toBe(-1);
  });
});
