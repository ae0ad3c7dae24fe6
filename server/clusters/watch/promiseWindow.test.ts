import { expect, test } from "vitest";
import type { Decision } from "@/server/contracts/gateway/gatewayAdmin";
import type { LiveFrame } from "@/server/contracts/studio";
import type { Plan } from "@/solver/plan/plan";
import { examplePlanDraft } from "@/solver/plan/testing/examplePlan";
import { promiseWindow } from "./promiseWindow";

const plan = { ...examplePlanDraft(), id: "p", policyHash: "h" } as unknown as Plan;
const NOW_MS = 1_000_000;
const WINDOW_SECONDS = 100;
const RATE = 2;
const frame = { atMs: NOW_MS, timeScale: 1, measured: { windowSeconds: WINDOW_SECONDS } } as unknown as LiveFrame;

/** Requests that arrived evenly over the window, of which those that have ended, newest first. */
function decisions(endToEndSeconds: number, change: Partial<Decision> = {}): Decision[] {
  return Array.from({ length: WINDOW_SECONDS * RATE }, (_, at) => {
    const arrivedMs = NOW_MS - WINDOW_SECONDS * 1000 + (at * 1000) / RATE;
    const decision = {
      planId: "p",
      policyHash: "h",
      status: 200,
      endToEndSeconds,
      stages: [],
      finishedAtMs: arrivedMs + endToEndSeconds * 1000,
    };
    return { ...decision, ...change } as unknown as Decision;
  })
    .filter(({ finishedAtMs }) => finishedAtMs <= NOW_MS)
    .reverse();
}

test("what a canary's candidate decided is not held against the plan, and so is not its rate", () => {
  const own = decisions(1);
  const window = promiseWindow(plan, [...decisions(1, { canary: true }), ...own], frame);
  expect(window.counts).toEqual({ answered: own.length, seen: own.length, failed: 0 });
  expect(window.requestsPerSecond!.value).toBeCloseTo(RATE, 1);
  expect(promiseWindow(plan, decisions(1, { canary: false }), frame).counts.seen).toBe(own.length);
});

test("requests that still run at the end of the window lower no rate, however long they take", () => {
  for (const took of [0.5, 10, 30, 45]) {
    expect(promiseWindow(plan, decisions(took), frame).requestsPerSecond!.value / RATE, `${took} s`).toBeCloseTo(1, 1);
  }
});

test("where most requests of the window may still run, no rate is told", () => {
  expect(promiseWindow(plan, decisions(60), frame).requestsPerSecond).toBeNull();
  expect(promiseWindow(plan, [], frame).requestsPerSecond).toBeNull();
});

test("little traffic is counted from when it began, beyond the window of Live", () => {
  const all = decisions(1);
  const short = { ...frame, measured: { windowSeconds: 10 } } as unknown as LiveFrame;
  expect(promiseWindow(plan, all, short).counts.answered).toBe(10 * RATE + 1);
  const since = promiseWindow(plan, all, short, NOW_MS - 80_000);
  expect(since.counts.answered).toBe(80 * RATE + 1);
  expect(since.requestsPerSecond!.value).toBeCloseTo(RATE, 1);
});
