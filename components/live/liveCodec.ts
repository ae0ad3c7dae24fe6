import { readWord } from "../url/readParam";
import type { UrlCodec } from "../url/useUrlView";

export const RANGES = ["120", "300", "600"] as const;

/** What defines the Live page's view. */
export interface LiveView {
  /** Seconds of charts. */
  readonly range: (typeof RANGES)[number];
}

export const liveCodec: UrlCodec<LiveView> = {
  parse: (params) => ({ range: readWord(params, "range", RANGES) ?? "300" }),
  format: (view) => ({ range: view.range === "300" ? undefined : view.range }),
};
