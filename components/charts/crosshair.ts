import { createStore } from "zustand/vanilla";

/** Where all charts of a page show their crosshair. */
export interface CrosshairState {
  /** null: nowhere. */
  readonly atMs: number | null;
  /** The chart that is pointed at or has the focus: it alone shows values. */
  readonly chartId: string | null;
}

/** The crosshair of one page's charts, synced by time. Made per mount. */
export const createCrosshair = () => createStore<CrosshairState>()(() => ({ atMs: null, chartId: null }));

export type Crosshair = ReturnType<typeof createCrosshair>;
