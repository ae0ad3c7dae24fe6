import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { prepareFreshness } from "../prepareFreshness";
import { reconnectingStream, type StreamNews } from "./reconnectingStream";
import { createStreamStore } from "./streamStore";

/** Streams that the test opens and ends. */
function desk() {
  const store = createStreamStore();
  const news: StreamNews[] = [];
  let left = 0;
  const leave = reconnectingStream(store, (each) => {
    news.push(each);
    return { unsubscribe: () => left++ };
  });
  return {
    leave,
    newest: () => news.at(-1) as StreamNews,
    attempts: () => news.length,
    left: () => left,
    word: () => prepareFreshness({ connection: store.getState().connection, lastMs: Date.now(), beforeMs: null, nowMs: Date.now() }).word,
  };
}

describe("reconnectingStream", () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  it("says of a stream that broke for how long and in how many seconds it is tried again, and tries then", () => {
    const { newest, attempts, left, word } = desk();
    newest().opened();
    expect(word()).toBe("live");
    newest().ended();
    expect([word(), left()]).toEqual(["connection lost for 0 s, reconnecting in 1 s", 1]);
    vi.advanceTimersByTime(1_000);
    expect([word(), attempts()]).toEqual(["connection lost for 1 s, reconnecting", 2]);
    newest().ended();
    expect(word()).toBe("connection lost for 1 s, reconnecting in 2 s");
    vi.advanceTimersByTime(1_500);
    expect(word()).toBe("connection lost for 3 s, reconnecting in 1 s");
    vi.advanceTimersByTime(500);
    newest().opened();
    expect(word()).toBe("live");
    newest().ended();
    expect(word()).toBe("connection lost for 0 s, reconnecting in 1 s");
  });

  it("waits no longer than a quarter of a minute", () => {
    const { newest, attempts, word } = desk();
    for (let lost = 0; lost < 8; lost++) {
      newest().ended();
      vi.advanceTimersByTime(15_000);
    }
    expect(attempts()).toBe(9);
    newest().ended();
    expect(word()).toContain("reconnecting in 15 s");
  });

  it("hears nothing of a stream that was left, and opens none again once it is to end", () => {
    const { newest, attempts, leave, left, word } = desk();
    const first = newest();
    first.ended();
    first.ended();
    vi.advanceTimersByTime(1_000);
    expect(attempts()).toBe(2);
    first.opened();
    expect(word()).toContain("lost");
    leave();
    newest().ended();
    vi.advanceTimersByTime(60_000);
    expect([attempts(), left()]).toEqual([2, 2]);
  });
});
