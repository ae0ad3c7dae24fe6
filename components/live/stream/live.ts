import { type Crosshair, createCrosshair } from "@/components/charts/crosshair";
import { type Beat, createPageBeat } from "./beat";
import { createFrameStore, type FrameStore } from "./frameStore";
import { createStreamStore, type StreamStore } from "./streamStore";

/** What one cluster's page knows of the present, the beat at which its pieces draw it, and where its charts are pointed at. */
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

/** Holds everything that is shown as it is, while what comes is kept. */
export function pauseLive({ store, stream }: Live): void {
  store.getState().actions.pause();
  stream.getState().actions.pause();
}

export function resumeLive({ store, stream }: Live): void {
  store.getState().actions.resume();
  stream.getState().actions.resume();
}
