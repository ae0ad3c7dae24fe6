import { expect, it } from "vitest";
import type { LiveFrame } from "@/server/contracts/studio";
import { testFrame } from "../testing/testFrame";
import { createFrameStore, MAX_FRAMES } from "./frameStore";

const frame = (atMs: number) => testFrame({ atMs });
const times = (frames: readonly LiveFrame[]) => frames.map((each) => each.atMs);

it("shows frames as they come, in order, and each once", () => {
  const store = createFrameStore();
  const { take } = store.getState().actions;
  take([frame(2000), frame(3000)]);
  take([frame(1000), frame(3000)]);
  expect(times(store.getState().shown)).toEqual([1000, 2000, 3000]);
});

it("freezes the view while paused, keeps filling behind it and counts what waits", () => {
  const store = createFrameStore();
  const { take, pause, resume } = store.getState().actions;
  take([frame(1000)]);
  pause();
  take([frame(2000)]);
  take([frame(3000)]);
  expect(times(store.getState().shown)).toEqual([1000]);
  expect(store.getState().held).toBe(2);
  resume();
  expect(times(store.getState().shown)).toEqual([1000, 2000, 3000]);
  expect(store.getState().held).toBe(0);
});

it("forgets the oldest frames rather than growing without end", () => {
  const store = createFrameStore();
  for (let second = 0; second < MAX_FRAMES + 50; second++) store.getState().actions.take([frame(second * 1000)]);
  expect(store.getState().frames).toHaveLength(MAX_FRAMES);
  expect(store.getState().frames[0]?.atMs).toBe(50_000);
});

it("keeps what did not change of the routing as the same object", () => {
  const store = createFrameStore();
  const routed = (atMs: number, etag: string): LiveFrame => {
    const policy = { kind: "fixed", model: "small-8b" } as never;
    const { gateway } = testFrame();
    return testFrame({ atMs, gateway: { ...gateway, routing: { etag, planId: "p", policyHash: "h", policy, controls: null } } });
  };
  const newest = () => store.getState().frames.at(-1)?.gateway.routing;
  store.getState().actions.take([routed(1000, "a")]);
  const before = newest();
  store.getState().actions.take([routed(2000, "a")]);
  expect(newest()).toBe(before);
  store.getState().actions.take([routed(3000, "b")]);
  expect(newest()?.etag).toBe("b");
  expect(newest()?.policy).toBe(before?.policy);
});
