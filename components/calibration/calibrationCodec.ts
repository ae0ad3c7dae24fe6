import type { ServingMetric } from "@/solver/hardware/engineProfile";
import { readWord } from "../url/readParam";
import type { UrlCodec } from "../url/useUrlView";
import { type Grouping, groupings } from "./grouping";
import { type RowOrder, rowOrders } from "./prepareRows";

export const metrics = ["endToEnd", "ttft", "tpot"] as const satisfies readonly ServingMetric[];

export const metricNames: Readonly<Record<ServingMetric, string>> = { ttft: "TTFT", tpot: "TPOT", endToEnd: "end to end" };

/** What defines the Calibration page's view. */
export interface CalibrationView {
  /** Id of the profile looked at; null: the one plans are made with. */
  readonly profile: string | null;
  /** Whether a profile of a file is being imported. */
  readonly importing: boolean;
  /** Id of the uploaded table; null: none. */
  readonly rows: string | null;
  /** Id of the fit looked at; null: none. */
  readonly fit: string | null;
  readonly metric: ServingMetric;
  readonly group: Grouping;
  readonly order: RowOrder;
  readonly descending: boolean;
}

export const calibrationCodec: UrlCodec<CalibrationView> = {
  parse: (params) => ({
    profile: params.get("profile"),
    importing: params.get("import") === "open",
    rows: params.get("rows"),
    fit: params.get("fit"),
    metric: readWord(params, "metric", metrics) ?? "endToEnd",
    group: readWord(params, "group", groupings) ?? "model",
    order: readWord(params, "order", rowOrders) ?? "error",
    descending: readWord(params, "direction", ["ascending"]) === null,
  }),
  format: (view) => ({
    profile: view.profile ?? undefined,
    import: view.importing ? "open" : undefined,
    rows: view.rows ?? undefined,
    fit: view.fit ?? undefined,
    metric: view.metric === "endToEnd" ? undefined : view.metric,
    group: view.group === "model" ? undefined : view.group,
    order: view.order === "error" ? undefined : view.order,
    direction: view.descending ? undefined : "ascending",
  }),
};
