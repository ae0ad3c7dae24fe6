import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { ResponseStore } from "./responseStore";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const stored = (text: string) => ({ response: { id: text }, conversation: [{ role: "user", content: text }] });

it("gives a response to its owner alone, until it expires", () => {
  const store = new ResponseStore({ mostBytes: 10_000, seconds: 60 });
  store.keep("a", "one", stored("a"));
  store.keep("b", null, stored("b"));
  expect([store.find("a", "one"), store.find("a", "two"), store.find("a", null)]).toEqual([stored("a"), null, null]);
  expect([store.find("b", null), store.find("b", "one"), store.find("c", null)]).toEqual([stored("b"), null, null]);
  expect([store.remove("a", "two"), store.remove("c", null)]).toEqual([false, false]);
  vi.advanceTimersByTime(59_000);
  expect(store.find("a", "one")).toEqual(stored("a"));
  vi.advanceTimersByTime(1_000);
  expect([store.find("a", "one"), store.bytes]).toEqual([null, 0]);
});

it("never holds more than its bytes: the oldest go first, and one that is too large is not kept", () => {
  const bytes = Buffer.byteLength(JSON.stringify(stored("a")));
  const store = new ResponseStore({ mostBytes: 2 * bytes, seconds: 60 });
  for (const id of ["a", "b", "c"]) store.keep(id, null, stored(id));
  expect(["a", "b", "c"].map((id) => store.find(id, null) !== null)).toEqual([false, true, true]);
  store.keep("d", null, stored("d".repeat(bytes)));
  expect([store.find("d", null), store.find("c", null), store.bytes]).toEqual([null, stored("c"), 2 * bytes]);
  expect([store.remove("b", null), store.bytes]).toEqual([true, bytes]);
});
