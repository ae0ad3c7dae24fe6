import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { BLOCK_TOKENS } from "@/solver/prefix/promptBlocks";
import type { WaitingWork } from "../core/policy";
import type { Slots } from "../core/policyParts";
import { leastLoadPlace } from "./leastLoadPlace";
import { prefixPlace } from "./prefixPlace";

interface State {
  readonly inFlight: readonly number[];
  readonly capacity?: readonly number[];
  readonly kvTokens?: number | null;
  readonly model?: string;
}

function slots({ inFlight, capacity, kvTokens = null, model = "m" }: State): Slots {
  return {
    model,
    replicaIds: inFlight.map((_, index) => `${model}${index}`),
    inFlight: Int32Array.from(inFlight),
    capacity: Int32Array.from(capacity ?? inFlight.map(() => 64)),
    kvUse: [],
    kvTokens: inFlight.map(() => kvTokens),
    preemptions: [],
  };
}

/** Work whose prompt has the blocks before and one token more. */
const work = (blocks: readonly number[], programId = "p") =>
  ({ programId, inputTokens: blocks.length * BLOCK_TOKENS + 1, promptBlocks: Uint32Array.from(blocks) }) as unknown as WaitingWork;

const states = fc.array(fc.record({ inFlight: fc.nat(9), capacity: fc.nat(9) }), { minLength: 1, maxLength: 6 });
const paths = fc.array(fc.nat(2), { maxLength: 5 }).map((steps) => {
  let block = 0;
  return steps.map((step) => {
    block = 4 * block + step + 1;
    return block;
  });
});

describe("prefixPlace", () => {
  it("sends a prompt to the replica that has its prefix, and others to the least loaded", () => {
    const place = prefixPlace();
    expect(place.choose(slots({ inFlight: [1, 0] }), work([1, 2, 3], "a"), 0)).toBe(1);
    expect(place.choose(slots({ inFlight: [0, 1] }), work([1, 2, 3, 4], "b"), 0)).toBe(1);
    expect(place.choose(slots({ inFlight: [0, 1] }), work([7, 8], "c"), 0)).toBe(0);
  });

  it("gives a hit up where its replica has so many more in flight that the prefill is sooner done elsewhere", () => {
    const place = prefixPlace();
    place.choose(slots({ inFlight: [1, 0] }), work([1, 2, 3], "a"), 0);
    expect(place.choose(slots({ inFlight: [0, 3] }), work([1, 2, 3], "b"), 0)).toBe(1);
    expect(place.choose(slots({ inFlight: [0, 9] }), work([1, 2, 3], "c"), 0)).toBe(0);
  });

  it("keeps a session together where two replicas know its prompt equally well", () => {
    const place = prefixPlace();
    place.choose(slots({ inFlight: [0, 1] }), work([1, 2], "a"), 0);
    place.choose(slots({ inFlight: [40, 0] }), work([1, 2], "b"), 0);
    expect(place.choose(slots({ inFlight: [0, 1] }), work([1, 2, 3], "b"), 0)).toBe(1);
    place.observe?.({ kind: "ended", programId: "b" });
    expect(place.choose(slots({ inFlight: [0, 1] }), work([1, 2], "b"), 0)).toBe(0);
  });

  it("forgets what a replica's cache has no room for", () => {
    const place = prefixPlace();
    const small = { kvTokens: 4 * BLOCK_TOKENS };
    place.choose(slots({ inFlight: [1, 0], ...small }), work([1, 2, 3], "a"), 0);
    place.choose(slots({ inFlight: [9, 0], ...small }), work([11, 12, 13, 14], "b"), 0);
    expect(place.choose(slots({ inFlight: [0, 1], ...small }), work([1, 2, 3], "c"), 0)).toBe(0);
  });

  it("knows prefixes by model and by replica", () => {
    const place = prefixPlace();
    place.choose(slots({ inFlight: [1, 0], model: "small" }), work([1, 2, 3], "a"), 0);
    expect(place.choose(slots({ inFlight: [0, 1], model: "large" }), work([1, 2, 3], "a"), 0)).toBe(0);
    const moved = { ...slots({ inFlight: [0, 1], model: "small" }), replicaIds: ["small0", "small9"] };
    expect(place.choose(moved, work([1, 2, 3], "a"), 0)).toBe(0);
  });

  it("never chooses a full or dead replica, and finds one wherever there is room", () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(states, paths, fc.nat(3)), { maxLength: 20 }), (steps) => {
        const place = prefixPlace();
        for (const [state, blocks, program] of steps) {
          const at = slots({ inFlight: state.map((one) => one.inFlight), capacity: state.map((one) => one.capacity) });
          const chosen = place.choose(at, work(blocks, String(program)), 0);
          const hasRoom = state.some(({ inFlight, capacity }) => inFlight < capacity);
          expect(chosen >= 0).toBe(hasRoom);
          if (chosen >= 0) expect(at.inFlight[chosen]).toBeLessThan(at.capacity[chosen] ?? 0);
        }
      }),
    );
  });

  it("decides as least load where no prompts share a prefix, sessions or not, and where no hashes are known", () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(states, fc.nat(4), fc.boolean(), fc.nat(3)), { maxLength: 30 }), (steps) => {
        const place = prefixPlace();
        for (const [index, [state, length, known, program]] of steps.entries()) {
          const at = slots({ inFlight: state.map((one) => one.inFlight), capacity: state.map((one) => one.capacity) });
          const own = Array.from({ length }, (_, block) => 100 * index + block);
          const { promptBlocks, ...rest } = work(own, String(program));
          expect(place.choose(at, known ? { ...rest, promptBlocks } : rest, 0)).toBe(leastLoadPlace.choose(at));
        }
      }),
    );
  });

  it("decides as least load where all replicas have the same hit", () => {
    const place = prefixPlace();
    for (const inFlight of [
      [0, 9, 9],
      [9, 0, 9],
      [9, 9, 0],
    ])
      place.choose(slots({ inFlight }), work([1, 2], `of ${inFlight}`), 0);
    let programs = 0;
    fc.assert(
      fc.property(fc.array(fc.record({ inFlight: fc.nat(9), capacity: fc.nat(9) }), { minLength: 3, maxLength: 3 }), (state) => {
        programs += 1;
        const at = slots({ inFlight: state.map((one) => one.inFlight), capacity: state.map((one) => one.capacity) });
        expect(place.choose(at, work([1, 2], `new ${programs}`), 0)).toBe(leastLoadPlace.choose(at));
      }),
    );
  });
});
