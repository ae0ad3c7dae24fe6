import { afterEach, expect, it, vi } from "vitest";
import { CachedView } from "./cachedView";

afterEach(() => {
  vi.useRealTimers();
});

/** A view that shows how often it was made, followed by `letters` more letters. */
function countingView(letters = 0) {
  vi.useFakeTimers({ toFake: ["performance"] });
  const view = new CachedView();
  let made = 0;
  const padding = "x".repeat(letters);
  return {
    view,
    shown: () => {
      const json = view.json(() => {
        made += 1;
        return { made, padding };
      });
      return (JSON.parse(json) as { made: number }).made;
    },
  };
}

it("is made anew once something has changed, and else every two seconds", () => {
  const { view, shown } = countingView();
  expect([shown(), shown()]).toEqual([1, 1]);
  view.change();
  expect([shown(), shown()]).toEqual([2, 2]);
  vi.advanceTimersByTime(1_900);
  expect(shown()).toBe(2);
  vi.advanceTimersByTime(200);
  expect(shown()).toBe(3);
});

it("is kept for two seconds where it is long, whatever changes, but not where it is of something else", () => {
  const { view, shown } = countingView(600_000);
  expect(shown()).toBe(1);
  view.change();
  expect(shown()).toBe(1);
  vi.advanceTimersByTime(2_000);
  expect(shown()).toBe(2);
  view.drop();
  expect(shown()).toBe(3);
});
