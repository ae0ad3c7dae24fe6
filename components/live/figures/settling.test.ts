import { describe, expect, it } from "vitest";
import type { LiveFrame } from "@/server/contracts/studio";
import type { Plan } from "@/solver/plan/plan";
import { testFrame } from "../testing/testFrame";
import { settling } from "./settling";

const planOf = (p95Seconds: number) => ({ id: "plan-a", predictions: { p95Seconds } }) as unknown as Plan;
const stage = { model: "small-8b", share: 1, escalated: 0, p50Seconds: 1, p95Seconds: 1, p99Seconds: 1, meanJudgedScore: 80 };

function frameAt(windowSeconds: number, requests = 5): LiveFrame {
  const idle = testFrame();
  return testFrame({
    planId: "plan-a",
    gateway: { ...idle.gateway, stages: [{ ...stage, queued: 3, inFlight: 9 }] },
    measured: { ...idle.measured, requests, windowSeconds },
  });
}

describe("settling", () => {
  it("counts what waits for whichever model has room first as under way too", () => {
    const frame = frameAt(1);
    expect(settling({ ...frame, gateway: { ...frame.gateway, queuedForAny: 4 } }, planOf(10))).toEqual({ inFlight: 16 });
  });

  it("lasts until the window is twice the predicted p95, and counts what is under way", () => {
    expect(settling(frameAt(19), planOf(10))).toEqual({ inFlight: 12 });
    expect(settling(frameAt(20), planOf(10))).toBeNull();
  });

  it("ends with the longest window even where a plan does not keep up", () => {
    expect(settling(frameAt(299), planOf(Number.POSITIVE_INFINITY))).not.toBeNull();
    expect(settling(frameAt(300), planOf(Number.POSITIVE_INFINITY))).toBeNull();
  });

  it("says nothing where nothing runs, without a plan, and of frames of another plan", () => {
    expect(settling(testFrame({ planId: "plan-a" }), planOf(10))).toBeNull();
    expect(settling(frameAt(5), null)).toBeNull();
    expect(settling({ ...frameAt(5), planId: "plan-b" }, planOf(10))).toBeNull();
  });

  it("adds what is known to be under way, and does not say none where nothing is known", () => {
    const frame = frameAt(5);
    const stages = (known: number | null) => ({
      ...frame,
      gateway: { ...frame.gateway, stages: [{ ...stage, queued: null, inFlight: known }] },
    });
    expect(settling(stages(4), planOf(10))).toEqual({ inFlight: 4 });
    expect(settling(stages(null), planOf(10))).toEqual({ inFlight: null });
  });
});
