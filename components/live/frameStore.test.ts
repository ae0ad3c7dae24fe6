import { expect, it } from "vitest";
import type { LiveFrame } from "@/server/contracts/studio";
import { createFrameStore, MAX_FRAMES } from "./frameStore";

const frame = (atMs: number) => ({ atMs }) as LiveFrame;
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
