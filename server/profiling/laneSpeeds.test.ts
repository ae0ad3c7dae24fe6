import { expect, it } from "vitest";
import { LaneSpeeds } from "./laneSpeeds";

/** A fast and a slow model, and a judge that reads each answer when it arrives: calls of each per second. */
function after(seconds: number, requestsPerMinute: number | null = null) {
  const [fast, slow, judge, here] = [0, 1, 2, 3];
  const planned = [600, 600, 1200, 0];
  const done = [0, 0, 0, 0];
  const speeds = new LaneSpeeds(4, requestsPerMinute);
  speeds.begin(0);
  const end = (lane: number, atMs: number) => {
    if ((done[lane] ?? 0) >= (planned[lane] ?? 0)) return;
    done[lane] = (done[lane] ?? 0) + 1;
    speeds.ended(lane, atMs);
    if (lane !== judge) end(judge, atMs);
  };
  for (let tenth = 1; tenth <= 10 * seconds; tenth += 1) {
    for (let call = 0; call < 3; call += 1) end(fast, 100 * tenth);
    if (tenth % 10 === 0) end(slow, 100 * tenth);
  }
  const nowMs = 1000 * seconds;
  expect(done[here]).toBe(0);
  return { speeds, nowMs, eta: speeds.etaSeconds((lane) => (planned[lane] ?? 0) - (done[lane] ?? 0), nowMs) };
}

it.each([10, 30, 100, 300, 500])("tells a job's time by its slowest model, after %i seconds of 600", (seconds) => {
  const { eta } = after(seconds);
  expect(eta).toBeGreaterThan(0.85 * (600 - seconds));
  expect(eta).toBeLessThan(1.2 * (600 - seconds));
});

it("does not go faster than the limit of requests per minute lets it", () => {
  const { eta } = after(30, 60);
  expect(eta).toBe(570 + 570);
});

it("tells no time while it is not known how fast one goes that has work left, and when nobody has, that it is over", () => {
  const { speeds, nowMs } = after(10);
  expect(speeds.etaSeconds((lane) => (lane === 3 ? 5 : 0), nowMs)).toBeNull();
  expect(speeds.etaSeconds(() => 0, nowMs)).toBe(0);
});
