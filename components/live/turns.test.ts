import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { createTurns, type Piece } from "./turns";

beforeEach(() => void vi.useFakeTimers({ toFake: ["setTimeout", "performance"] }));
afterEach(() => void vi.useRealTimers());

/** A page whose pieces each take this long to draw; the order in which they were drawn. */
function page(names: readonly string[], drawMs: number, held = () => false) {
  const turns = createTurns(held);
  const log: string[] = [];
  const pieces = new Map<string, Piece>();
  for (const name of names) {
    const draw = () => {
      log.push(name);
      setTimeout(() => pieces.get(name)?.drawn(), drawMs);
    };
    pieces.set(name, turns.join(draw));
  }
  return {
    log,
    pieces,
    ask: () => {
      for (const piece of pieces.values()) piece.ask();
    },
  };
}

it("draws one piece at a time, each once for what came meanwhile", () => {
  const { log, ask } = page(["a", "b"], 10);
  ask();
  ask();
  ask();
  expect(log).toEqual(["a"]);
  vi.advanceTimersByTime(400);
  expect(log).toEqual(["a", "b"]);
});

it("spends at most a fifth of the time on drawing, however slow the browser, and comes to every piece", () => {
  const { log, ask } = page(["a", "b", "c"], 300);
  for (let second = 0; second < 60; second++) {
    ask();
    vi.advanceTimersByTime(1000);
  }
  expect(log.length * 300).toBeLessThanOrEqual(60_000 / 5 + 300);
  expect(log.length).toBeGreaterThan(30);
  for (const name of ["a", "b", "c"]) expect(log.filter((each) => each === name).length).toBeGreaterThanOrEqual(10);
});

it("draws no piece more often than twice a second", () => {
  const { log, ask } = page(["a"], 1);
  for (let step = 0; step < 100; step++) {
    ask();
    vi.advanceTimersByTime(100);
  }
  expect(log.length).toBeLessThanOrEqual(21);
  expect(log.length).toBeGreaterThanOrEqual(18);
});

it("draws nothing while it is held, and the newest with the next thing that comes", () => {
  let held = true;
  const { log, ask } = page(["a"], 10, () => held);
  ask();
  vi.advanceTimersByTime(5000);
  expect(log).toEqual([]);
  held = false;
  ask();
  expect(log).toEqual(["a"]);
});

it("goes on with the others when a piece leaves in the middle of its drawing", () => {
  const { log, pieces, ask } = page(["a", "b"], 10_000);
  ask();
  pieces.get("a")?.leave();
  vi.advanceTimersByTime(100);
  expect(log).toEqual(["a", "b"]);
});
