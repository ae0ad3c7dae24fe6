import { describe, expect, it } from "vitest";
import type { Attempt } from "./batchAttempt";
import { SessionFlow } from "./sessionFlow";

const answered: Attempt = { kind: "answered", text: "", inputTokens: 1, outputTokens: 1, seconds: 1 };
const busy: Attempt = { kind: "busy", waitSeconds: null };
const failed: Attempt = { kind: "failed", failure: "timed out", isFinal: false, isGone: false };
const gone: Attempt = { ...failed, isGone: true };

const tried = (flow: SessionFlow, position: number, attempt: Attempt): void => {
  flow.begin();
  flow.end(position, attempt);
};

/**
 * Starts the most calls allowed.
 * @returns the number in flight then.
 */
function fill(flow: SessionFlow): number {
  while (flow.hasRoom) flow.begin();
  return flow.underWay;
}

describe("the flow of a session's questions", () => {
  it("narrows to what an engine takes, and widens as it answers, up to the concurrency", () => {
    const flow = new SessionFlow(64);
    expect(fill(flow)).toBe(64);
    for (let position = 0; position < 56; position += 1) flow.end(position, busy);
    expect([fill(flow), flow.takeRest()]).toEqual([8, 0]);
    for (let position = 0; position < 4; position += 1) flow.end(position, answered);
    expect(fill(flow)).toBe(9);
    for (let position = 0; position < 1000; position += 1) {
      flow.end(position, answered);
      expect(fill(flow)).toBeLessThanOrEqual(64);
    }
    expect(flow.underWay).toBe(64);
  });

  it("leaves an engine alone that is too busy for anything, for longer each time and as long as it asks for, and begins anew when it answers", () => {
    const flow = new SessionFlow(4);
    const rest = (waitSeconds: number | null): number => {
      tried(flow, 0, { kind: "busy", waitSeconds });
      return flow.takeRest();
    };
    expect([rest(null), rest(0), rest(null), rest(60)]).toEqual([1000, 2000, 4000, 60_000]);
    expect(flow.takeRest()).toBe(0);
    expect(fill(flow)).toBe(1);
    flow.end(0, answered);
    expect([rest(null), rest(null)]).toEqual([1000, 2000]);
  });

  it("finds a fault with one that has only asked to wait for ten minutes, and forgets it when somebody has looked", () => {
    const flow = new SessionFlow(4);
    const asked: (string | null)[] = [];
    for (let minute = 0; minute < 10; minute += 1) {
      tried(flow, 0, { kind: "busy", waitSeconds: 60 });
      asked.push(flow.fault("too busy", 1));
    }
    expect(asked).toEqual([...Array(9).fill(null), "has only asked to wait for 10 minutes"]);
    flow.forgive();
    tried(flow, 0, busy);
    expect(flow.fault("too busy", 1)).toBeNull();
  });

  it("finds a fault where twenty different questions failed in a row and as many others are left", () => {
    const flow = new SessionFlow(4);
    const faultAfter = (from: number, count: number, left = 1000): string | null => {
      for (let position = from; position < from + count; position += 1) tried(flow, position, failed);
      return flow.fault("timed out", left);
    };
    expect(faultAfter(0, 19)).toBeNull();
    // The same question again, one whose engine went away, and an answer: none of them is another failed question.
    expect(faultAfter(0, 19)).toBeNull();
    tried(flow, 50, gone);
    expect(flow.fault("engine gone", 1000)).toBeNull();
    tried(flow, 51, answered);
    expect(faultAfter(60, 19)).toBeNull();
    expect(faultAfter(79, 1, 39)).toBeNull();
    expect(faultAfter(79, 1, 40)).toBe('fails on every question: the last 20, all different, had no answer ("timed out")');
    // After a resume without a change, more may fail before it is reported again.
    flow.forgive();
    expect(faultAfter(100, 39)).toBeNull();
    expect(faultAfter(139, 1)).toContain("the last 40");
    tried(flow, 52, answered);
    expect(faultAfter(200, 20)).toContain("the last 20");
  });
});
