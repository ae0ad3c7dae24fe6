import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { ReplicaView } from "@/solver/policies/core/policy";
import { spareReplica } from "./spareReplica";

const replicas: fc.Arbitrary<ReplicaView[]> = fc.array(
  fc.record({
    id: fc.uuid(),
    model: fc.constantFrom("small", "large"),
    inFlight: fc.nat(12),
    maxInFlight: fc.integer({ min: 1, max: 12 }),
    accepting: fc.boolean(),
    kvUse: fc.constant({ state: "absent" } as const),
  }),
);
const filled = ({ inFlight, maxInFlight }: ReplicaView): number => (inFlight + 1) / maxInFlight;

describe("a spare place", () => {
  it("is at the least filled engine of the model that takes work and stays at least half empty, if there is one", () => {
    fc.assert(
      fc.property(replicas, (all) => {
        const fit = all.filter((one) => one.model === "large" && one.accepting && 2 * (one.inFlight + 1) <= one.maxInFlight);
        const found = spareReplica("large", { pool: { replicas: all }, queued: new Map([["small", 3]]) });
        if (fit.length === 0) expect(found).toBeUndefined();
        else expect([fit.includes(found as ReplicaView), found && filled(found)]).toEqual([true, Math.min(...fit.map(filled))]);
      }),
    );
  });

  it("is nowhere while anything waits for the model", () => {
    const idle = { id: "a", model: "large", inFlight: 0, maxInFlight: 8, accepting: true, kvUse: { state: "absent" } } as const;
    const found = (waiting: number) => spareReplica("large", { pool: { replicas: [idle] }, queued: new Map([["large", waiting]]) });
    expect([found(0), found(1)]).toEqual([idle, undefined]);
  });
});
