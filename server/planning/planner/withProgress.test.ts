import { describe, expect, it } from "vitest";
import type { RequestOptions } from "@/server/planning/planner/planningRequest";
import { withProgress } from "./withProgress";

const searching = (done: number) => ({ phase: "searching", done, of: null }) as const;
const aMoment = () => new Promise((resolve) => setImmediate(resolve));
const never = new AbortController().signal;

describe("withProgress", () => {
  it("tells progress in its order, then the answer, and nothing after it", async () => {
    const events = [];
    const counting = async ({ onProgress }: RequestOptions) => {
      for (const done of [1, 2, 3]) {
        onProgress?.(searching(done));
        await aMoment();
      }
      return "done";
    };
    for await (const event of withProgress(counting, never)) events.push(event);
    expect(events).toEqual([
      ...[1, 2, 3].map((done) => ({ kind: "progress", progress: searching(done) })),
      { kind: "answer", answer: "done" },
    ]);
  });

  it("tells a slow listener the last progress only", async () => {
    const stream = withProgress(async ({ onProgress }: RequestOptions) => {
      for (const done of [1, 2, 3]) onProgress?.(searching(done));
      await aMoment();
      return "done";
    }, never);
    expect(await stream.next()).toMatchObject({ value: { progress: { done: 3 } } });
    expect(await stream.next()).toMatchObject({ value: { kind: "answer" } });
  });

  it("aborts what it asked for when the listener leaves or aborts", async () => {
    const signals: AbortSignal[] = [];
    const endless = ({ signal, onProgress }: RequestOptions) => {
      if (signal !== undefined) signals.push(signal);
      onProgress?.(searching(1));
      return new Promise<never>((_, reject) => signal?.addEventListener("abort", () => reject(signal.reason)));
    };
    for await (const _ of withProgress(endless, never)) break;
    expect(signals[0]?.aborted).toBe(true);
    const leaving = new AbortController();
    const stream = withProgress(endless, leaving.signal);
    await stream.next();
    leaving.abort(new Error("gone"));
    await expect(stream.next()).rejects.toThrow("gone");
    expect(signals[1]?.aborted).toBe(true);
  });

  it("passes on what goes wrong", async () => {
    const failing = withProgress(() => Promise.reject(new Error("broken")), never);
    await expect(failing.next()).rejects.toThrow("broken");
  });
});
