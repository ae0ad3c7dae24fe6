import { type Crosshair, createCrosshair } from "@/components/charts/crosshair";
import { type Beat, createPageBeat } from "./beat";
import { createFrameStore, type FrameStore } from "./frameStore";
import { createStreamStore, type StreamStore } from "./streamStore";

/** One cluster's live data on a page, the beat at which its parts are drawn, and the crosshair of its charts. */
export interface Live {
  readonly store: FrameStore;
  readonly stream: StreamStore;
  readonly beat: Beat;
  readonly crosshair: Crosshair;
}

export const createLive = (): Live => ({
  store: createFrameStore(),
  stream: createStreamStore(),
  beat: createPageBeat(),
  crosshair: createCrosshair(),
});

/** Freezes the display, while data is still collected. */
export function pauseLive({ store, stream }: Live): void {
  store.getState().actions.pause();
  stream.getState().actions.pause();
}

export function resumeLive({ store, stream }: Live): void {
  store.getState().actions.resume();
  stream.getState().actions.resume();
}
