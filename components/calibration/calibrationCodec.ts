import { measuringBounds } from "@/solver/calibration/nextRun";
import type { ServingMetric } from "@/solver/hardware/engineProfile";
import { codecOf, flag, named, text, type ViewOf, whole, withDefault, word } from "../url/addressFields";
import { groupings } from "./grouping";
import { rowOrders } from "./prepareRows";

export const metrics = ["endToEnd", "ttft", "tpot"] as const satisfies readonly ServingMetric[];

export const metricNames: Readonly<Record<ServingMetric, string>> = { ttft: "TTFT", tpot: "TPOT", endToEnd: "end to end" };

/** The Calibration page's view. */
export const calibrationCodec = codecOf({
  /** Id of the displayed profile; null: the one that plans use. */
  profile: text(),
  /** Whether a profile is being imported from a file. */
  importing: named("import", flag("open")),
  /** Address of an engine to measure, its own name of the model, its card and its shape; null: to be entered. Its key is never here. */
  engine: text(500),
  served: text(200),
  gpu: text(80),
  tp: whole(measuringBounds.tp),
  pp: whole(measuringBounds.pp),
  /** Id of the uploaded table; null: none. */
  rows: text(),
  /** Id of the displayed fit; null: none. */
  fit: text(),
  metric: withDefault(word(metrics), "endToEnd"),
  group: withDefault(word(groupings), "model"),
  order: withDefault(word(rowOrders), "error"),
  descending: named("direction", flag("ascending", false)),
});
export type CalibrationView = ViewOf<typeof calibrationCodec>;
