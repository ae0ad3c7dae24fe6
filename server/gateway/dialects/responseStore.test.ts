import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { ResponseStore } from "./responseStore";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const bounds = { bodyBytes: 10_000, bodyJson: { depth: 8, nodes: 100, commas: 100 } };
const stored = (text: string) => ({ response: { id: text }, conversation: [{ role: "user", content: text }] });
const bytesOf = ({ response, conversation }: ReturnType<typeof stored>) =>
  Buffer.byteLength(JSON.stringify(response)) + Buffer.byteLength(JSON.stringify(conversation));

/** What is kept for an owner; null if nothing is. */
function found(store: ResponseStore, id: string, owner: string | null) {
  const response = store.find(id, owner);
  const continued = store.continued(id, owner, "{}");
  if (response === null || continued === null || continued === "too-large") return null;
  return { response: JSON.parse(response.toString()), conversation: continued.conversation };
}

it("gives a response to its owner alone, until it expires", () => {
  const store = new ResponseStore({ mostBytes: 10_000, seconds: 60, ...bounds });
  store.keep("a", "one", stored("a"));
  store.keep("b", null, stored("b"));
  expect([found(store, "a", "one"), found(store, "a", "two"), found(store, "a", null)]).toEqual([stored("a"), null, null]);
  expect([found(store, "b", null), found(store, "b", "one"), found(store, "c", null)]).toEqual([stored("b"), null, null]);
  expect([store.remove("a", "two"), store.remove("c", null)]).toEqual([false, false]);
  vi.advanceTimersByTime(59_000);
  expect(found(store, "a", "one")).toEqual(stored("a"));
  vi.advanceTimersByTime(1_000);
  expect([found(store, "a", "one"), store.bytes]).toEqual([null, 0]);
});

it("never holds more than its bytes: the oldest go first, and one that is too large is not kept", () => {
  const bytes = bytesOf(stored("a"));
  const store = new ResponseStore({ mostBytes: 2 * bytes, seconds: 60, ...bounds });
  for (const id of ["a", "b", "c"]) store.keep(id, null, stored(id));
  expect(["a", "b", "c"].map((id) => found(store, id, null) !== null)).toEqual([false, true, true]);
  store.keep("d", null, stored("d".repeat(bytes)));
  expect([found(store, "d", null), found(store, "c", null), store.bytes]).toEqual([null, stored("c"), 2 * bytes]);
  expect([store.remove("b", null), store.bytes]).toEqual([true, bytes]);
});

it("keeps no response that is larger than a body may be", () => {
  const bytes = bytesOf(stored("a"));
  const store = new ResponseStore({ ...bounds, mostBytes: 10 * bytes, seconds: 60, bodyBytes: bytes });
  store.keep("a", null, stored("a"));
  store.keep("b", null, stored("bb"));
  expect([store.find("a", null), store.find("b", null), store.bytes]).toEqual([expect.any(Buffer), null, bytes]);
});

it("continues no conversation that is, with the body, more than one body may be", () => {
  const conversation = JSON.stringify(stored("a").conversation);
  const store = new ResponseStore({ ...bounds, mostBytes: 10_000, seconds: 60, bodyBytes: bytesOf(stored("a")) });
  store.keep("a", null, stored("a"));
  const room = bytesOf(stored("a")) - conversation.length;
  expect(store.continued("a", null, "x".repeat(room))).toEqual({ ...stored("a"), response: undefined, byteLength: conversation.length });
  expect(store.continued("a", null, "x".repeat(room + 1))).toBe("too-large");
  const many = new ResponseStore({ ...bounds, mostBytes: 10_000, seconds: 60, bodyJson: { depth: 8, nodes: 7, commas: 100 } });
  many.keep("a", null, stored("a"));
  // The conversation has six lists, objects and texts.
  expect([many.continued("a", null, "{}"), many.continued("a", null, "[{}]")]).toEqual([expect.anything(), "too-large"]);
});
