import type { Clock } from "../clock";

/** A clock set by a test: `pass` advances the time, `set` sets only the wall time, as an operator or NTP does. */
export function createTestClock(wallMs: number): Clock & { pass(ms: number): void; set(wallMs: number): void } {
  let steadyMs = 5_000;
  return {
    wallMs: () => wallMs,
    steadyMs: () => steadyMs,
    pass(ms) {
      wallMs += ms;
      steadyMs += ms;
    },
    set(to) {
      wallMs = to;
    },
  };
}
