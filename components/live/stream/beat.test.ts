import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { createBeat, type Piece } from "./beat";

beforeEach(() => void vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] }));
afterEach(() => void vi.useRealTimers());

/** A page whose parts take this long to be painted, and the parts that were drawn, in order. */
function page(names: readonly string[], drawMs: number, hidden = () => false) {
  const beat = createBeat(hidden);
  const log: string[] = [];
  const pieces = new Map<string, Piece>();
  for (const name of names) {
    const piece = beat.join(() => {
      log.push(name);
      setTimeout(() => piece.drawn(), drawMs);
      return true;
    });
    pieces.set(name, piece);
  }
  return { log, pieces, ask: () => [...pieces.values()].forEach((piece) => void piece.ask()) };
}

it("draws all pieces at one beat, each once for all that came before it", () => {
  const { log, ask } = page(["a", "b"], 10);
  ask();
  ask();
  expect(log).toEqual([]);
  vi.advanceTimersByTime(25);
  expect(log).toEqual(["a", "b"]);
  ask();
  vi.advanceTimersByTime(400);
  expect(log).toEqual(["a", "b"]);
  vi.advanceTimersByTime(200);
  expect(log).toEqual(["a", "b", "a", "b"]);
});

it("draws twice a second at most, and as often as that where something new keeps coming", () => {
  const { log, ask } = page(["a"], 1);
  for (let step = 0; step < 100; step++) {
    ask();
    vi.advanceTimersByTime(100);
  }
  expect(log.length).toBeLessThanOrEqual(21);
  expect(log.length).toBeGreaterThanOrEqual(19);
});

it("skips what a slow browser does not come to, and leaves it half of its time", () => {
  const { log, ask } = page(["a"], 2000);
  for (let second = 0; second < 60; second++) {
    ask();
    vi.advanceTimersByTime(1000);
  }
  expect(log.length).toBeLessThanOrEqual(16);
  expect(log.length).toBeGreaterThanOrEqual(10);
});

it("draws nothing that was not asked for", () => {
  const { log, pieces } = page(["a", "b"], 1);
  pieces.get("b")?.ask();
  vi.advanceTimersByTime(5000);
  expect(log).toEqual(["b"]);
});

it("does not wait for a piece that had nothing new to draw", () => {
  const beat = createBeat(() => false);
  let asked = 0;
  const piece = beat.join(() => {
    asked += 1;
    return false;
  });
  for (let step = 0; step < 3; step++) {
    piece.ask();
    vi.advanceTimersByTime(600);
  }
  expect(asked).toBe(3);
});

it("draws nothing while the page is hidden, and the newest with the next thing that comes", () => {
  let hidden = true;
  const { log, ask } = page(["a"], 10, () => hidden);
  ask();
  vi.advanceTimersByTime(5000);
  expect(log).toEqual([]);
  hidden = false;
  ask();
  vi.advanceTimersByTime(25);
  expect(log).toEqual(["a"]);
});

it("goes on with the others when a piece leaves in the middle of its drawing", () => {
  const { log, pieces, ask } = page(["a", "b"], 10_000);
  ask();
  vi.advanceTimersByTime(25);
  pieces.get("a")?.leave();
  pieces.get("b")?.leave();
  pieces.get("a")?.ask();
  vi.advanceTimersByTime(600);
  expect(log).toEqual(["a", "b", "a"]);
});
