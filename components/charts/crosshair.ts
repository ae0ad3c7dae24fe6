import { createStore } from "zustand/vanilla";

/** Position of the crosshair on all charts of a page. */
export interface CrosshairState {
  /** null: nowhere. */
  readonly atMs: number | null;
  /** The chart under the pointer or with the focus: only it shows values. */
  readonly chartId: string | null;
}

/** The crosshair of one page's charts, synced by time. Made per mount. */
export const createCrosshair = () => createStore<CrosshairState>()(() => ({ atMs: null, chartId: null }));

export type Crosshair = ReturnType<typeof createCrosshair>;
