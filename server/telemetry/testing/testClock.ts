import type { Clock } from "../clock";

/** A clock that a test turns: `pass` lets time go by, `set` sets the wall's time alone, as an operator or NTP does. */
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
