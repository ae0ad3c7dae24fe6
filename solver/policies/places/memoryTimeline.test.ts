import fc from "fast-check";
import { describe, expect, it, test } from "vitest";
import { HORIZON_SLOTS, MemoryTimeline, type PlannedRequest, SLOT_SECONDS, slotTokensOf } from "./memoryTimeline";

const request = (workId: string, changes: Partial<PlannedRequest> = {}): PlannedRequest => ({
  workId,
  agent: null,
  inputTokens: 100,
  tokensPerSecond: 10,
  fromSeconds: 0,
  untilSeconds: 2,
  ...changes,
});

const reserved = (...requests: readonly PlannedRequest[]): MemoryTimeline => {
  const timeline = new MemoryTimeline();
  for (const one of requests) {
    timeline.advance(one.fromSeconds);
    timeline.reserve(one);
  }
  return timeline;
};

describe("a timeline", () => {
  it("counts the prompt from the start and what is written until the slot's end, and nothing after the expected end", () => {
    expect(reserved(request("a")).slotTokens()).toEqual([105, 110, 115, 120]);
    expect(reserved(request("a", { fromSeconds: 0.25, untilSeconds: 1.35 })).slotTokens()).toEqual([103, 108, 111]);
    expect(reserved(request("a", { untilSeconds: 0 })).slotTokens()).toEqual([100]);
  });

  it("lets what is late count no more, although it is there", () => {
    const timeline = reserved(request("a"), request("b", { fromSeconds: 1, untilSeconds: 4 }));
    timeline.advance(2);
    expect(timeline.slotTokens()).toEqual([115, 120, 125, 130]);
    expect(timeline.runsLate(2)).toBe(false);
    expect(timeline.runsLate(2.1)).toBe(true);
    expect(timeline.size).toBe(2);
    timeline.release("a");
    expect(timeline.slotTokens()).toEqual([115, 120, 125, 130]);
    expect(timeline.runsLate(2.1)).toBe(false);
  });

  it("counts a request whose end nobody knows by its prompt, in every slot and beyond, for as long as it is there", () => {
    const timeline = reserved(request("a"), request("unknown", { inputTokens: 7, untilSeconds: null }));
    expect(timeline.slotTokens()).toEqual([112, 117, 122, 127]);
    timeline.advance(60);
    expect(timeline.slotTokens()).toEqual([7]);
    expect(timeline.peakTokens()).toBe(7);
    expect(timeline.peakTokens(Float64Array.of(5, 9), 100)).toBe(116);
    expect(timeline.runsLate(60)).toBe(true);
    timeline.release("a");
    expect(timeline.runsLate(60)).toBe(false);
    timeline.release("unknown");
    expect(timeline.slotTokens()).toEqual([]);
  });

  it("counts a request that takes very long as far as the horizon", () => {
    const timeline = reserved(request("a", { fromSeconds: 9, untilSeconds: 5000 }));
    expect(timeline.slotTokens()).toHaveLength(HORIZON_SLOTS);
    timeline.advance(9 + HORIZON_SLOTS * SLOT_SECONDS);
    expect(timeline.slotTokens()).toEqual([]);
    timeline.release("a");
    expect(timeline.peakTokens()).toBe(0);
  });

  it("shows what is there by when it is expected to end, and keeps the newest", () => {
    const timeline = reserved(request("late", { untilSeconds: 9 }), request("unknown", { untilSeconds: null }), request("soon"));
    expect(timeline.expected().map(({ workId }) => workId)).toEqual(["soon", "late", "unknown"]);
    timeline.keepNewest(1);
    expect(timeline.expected().map(({ workId }) => workId)).toEqual(["soon"]);
    timeline.keepNewest(0);
    expect(timeline.slotTokens()).toEqual([]);
  });

  it("plans a request anew that it has already", () => {
    const timeline = reserved(request("a"), request("a", { fromSeconds: 1, untilSeconds: 1.5 }));
    expect(timeline.slotTokens()).toEqual([105]);
    expect(timeline.size).toBe(1);
  });
});

type Step =
  | {
      readonly kind: "reserve";
      readonly id: number;
      readonly planned: Pick<PlannedRequest, "inputTokens" | "tokensPerSecond">;
      readonly seconds: number | null;
    }
  | { readonly kind: "release"; readonly id: number }
  | { readonly kind: "pass"; readonly seconds: number };

const anySeconds = fc.oneof(
  fc.double({ min: 0, max: 8, noNaN: true }),
  fc.integer({ min: 0, max: 40 }).map((quarters) => quarters / 4),
  fc.double({ min: 200, max: 600, noNaN: true }),
);
const anyStep: fc.Arbitrary<Step> = fc.oneof(
  fc.record({
    kind: fc.constant("reserve" as const),
    id: fc.nat(12),
    planned: fc.record({ inputTokens: fc.nat(3000), tokensPerSecond: fc.double({ min: 0, max: 90, noNaN: true }) }),
    seconds: fc.option(anySeconds),
  }),
  fc.record({ kind: fc.constant("release" as const), id: fc.nat(12) }),
  fc.record({ kind: fc.constant("pass" as const), seconds: anySeconds }),
);

/** Maximum tokens of all requests in each slot from now on, computed by the definition without stored sums. */
function bruteForce(requests: readonly PlannedRequest[], nowSeconds: number): number[] {
  const now = Math.floor(nowSeconds / SLOT_SECONDS);
  const tokens = Array.from({ length: HORIZON_SLOTS }, (_, index) => {
    let sum = 0;
    for (const { inputTokens, tokensPerSecond, fromSeconds, untilSeconds } of requests) {
      const slotStart = (now + index) * SLOT_SECONDS;
      const until = untilSeconds ?? Number.POSITIVE_INFINITY;
      const horizon = (Math.floor(fromSeconds / SLOT_SECONDS) + HORIZON_SLOTS) * SLOT_SECONDS;
      if (until === Number.POSITIVE_INFINITY) sum += inputTokens;
      else if (slotStart < Math.min(until, horizon) || slotStart <= fromSeconds) {
        sum += Math.ceil(inputTokens + tokensPerSecond * Math.max(0, Math.min(slotStart + SLOT_SECONDS, until) - fromSeconds));
      }
    }
    return sum;
  });
  return tokens.slice(0, tokens.findLastIndex((each) => each > 0) + 1);
}

test("is what adding up all that is there anew gives, to the token, whatever came, ended and passed", () => {
  fc.assert(
    fc.property(fc.array(anyStep, { maxLength: 60 }), (steps) => {
      const timeline = new MemoryTimeline();
      const there = new Map<string, PlannedRequest>();
      let nowSeconds = 0;
      for (const step of steps) {
        if (step.kind === "pass") nowSeconds += step.seconds;
        else if (step.kind === "release") {
          timeline.release(String(step.id));
          there.delete(String(step.id));
        } else {
          const untilSeconds = step.seconds === null ? null : nowSeconds + step.seconds;
          const planned = { workId: String(step.id), agent: null, ...step.planned, fromSeconds: nowSeconds, untilSeconds };
          timeline.advance(nowSeconds);
          timeline.reserve(planned);
          there.set(planned.workId, planned);
        }
        timeline.advance(nowSeconds);
        const expected = bruteForce([...there.values()], nowSeconds);
        const shown = timeline.slotTokens();
        // For requests with an unknown end a timeline shows one slot if there are no others.
        expect(shown).toEqual(
          expected.slice(0, Math.max(shown.length, expected.findLastIndex((each) => each > (expected.at(-1) ?? 0)) + 1)),
        );
        expect(timeline.peakTokens()).toBe(Math.max(0, ...expected));
        expect(timeline.size).toBe(there.size);
      }
      const copy = new MemoryTimeline(timeline);
      for (const id of there.keys()) timeline.release(id);
      expect([timeline.peakTokens(), timeline.slotTokens()]).toEqual([0, []]);
      expect(copy.size).toBe(there.size);
      expect(copy.peakTokens()).toBe(Math.max(0, ...bruteForce([...there.values()], nowSeconds)));
    }),
  );
});

test("foretells the peak that it has once the request is planned", () => {
  const any = fc.record({ inputTokens: fc.nat(3000), tokensPerSecond: fc.double({ min: 0, max: 90, noNaN: true }), seconds: anySeconds });
  fc.assert(
    fc.property(fc.array(any, { maxLength: 20 }), fc.double({ min: 0, max: 2, noNaN: true }), any, (before, gapSeconds, drawn) => {
      const planned = ({ inputTokens, tokensPerSecond, seconds }: typeof drawn, fromSeconds: number, workId: string) =>
        request(workId, { inputTokens, tokensPerSecond, fromSeconds, untilSeconds: fromSeconds + seconds });
      const timeline = reserved(...before.map((one, at) => planned(one, at * gapSeconds, String(at))));
      const nowSeconds = before.length * gapSeconds;
      timeline.advance(nowSeconds);
      const next = planned(drawn, nowSeconds, "next");
      const foretold = timeline.peakTokens(slotTokensOf(next));
      timeline.reserve(next);
      expect(timeline.peakTokens()).toBe(foretold);
    }),
  );
});
