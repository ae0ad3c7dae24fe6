import { replaceEqualDeep } from "@tanstack/react-query";
import { createStore } from "zustand/vanilla";
import type { LiveFrame } from "@/server/contracts/studio";

/** A minute at two frames a second: charts have their own columns, the last minute is for tables and for conditions that last. */
export const MAX_FRAMES = 120;

export interface FrameState {
  /** Everything received, oldest first. Keeps filling while paused. */
  readonly frames: readonly LiveFrame[];
  /** The displayed frames: `frames`, or their state when the page was paused. */
  readonly shown: readonly LiveFrame[];
  readonly paused: boolean;
  /** Frames received since the pause. */
  readonly held: number;
}

export interface FrameActions {
  /** Adds frames in any order, including known ones: a reconnect may send some twice. */
  take(frames: readonly LiveFrame[]): void;
  pause(): void;
  resume(): void;
}

/** Unchanged parts of the routing stay the same object, so that their display is not redrawn. */
function sharing(known: readonly LiveFrame[], frame: LiveFrame): LiveFrame {
  const before = known.at(-1)?.gateway.routing ?? null;
  if (before === null || frame.gateway.routing === null) return frame;
  return { ...frame, gateway: { ...frame.gateway, routing: replaceEqualDeep(before, frame.gateway.routing) } };
}

function merge(known: readonly LiveFrame[], taken: readonly LiveFrame[]): readonly LiveFrame[] {
  const last = known.at(-1)?.atMs ?? Number.NEGATIVE_INFINITY;
  if (taken.every((frame) => frame.atMs > last)) return [...known, ...taken.map((frame) => sharing(known, frame))].slice(-MAX_FRAMES);
  const byTime = new Map([...known, ...taken].map((frame) => [frame.atMs, frame]));
  return [...byTime.values()].sort((a, b) => a.atMs - b.atMs).slice(-MAX_FRAMES);
}

/** One page's live frames. Made per mount: a frame of one cluster never appears on another's page. */
export function createFrameStore() {
  return createStore<FrameState & { readonly actions: FrameActions }>()((set) => ({
    frames: [],
    shown: [],
    paused: false,
    held: 0,
    actions: {
      take: (taken) =>
        set((state) => {
          const frames = merge(state.frames, taken);
          return state.paused ? { frames, held: state.held + taken.length } : { frames, shown: frames };
        }),
      pause: () => set((state) => ({ paused: true, held: 0, shown: state.frames })),
      resume: () => set((state) => ({ paused: false, held: 0, shown: state.frames })),
    },
  }));
}

export type FrameStore = ReturnType<typeof createFrameStore>;
