import type { TimeWindow } from "@/components/charts/chartSpec";
import { number, word } from "@/components/url/addressFields";
import type { UrlCodec } from "@/components/url/useUrlView";
import type { ChosenFilter } from "./prepareFilter";

export const SCOPES = ["cluster", "model", "engine", "gpu"] as const;
export type Scope = (typeof SCOPES)[number];

/** Seconds of charts that follow the present, with their names, as the address has them. */
export const SPANS = {
  "60": "1 min",
  "300": "5 min",
  "900": "15 min",
  "3600": "1 h",
  "21600": "6 h",
  "86400": "24 h",
  "604800": "7 d",
  "2592000": "30 d",
} as const;
export type Span = keyof typeof SPANS;
export const SPAN_NAMES = Object.keys(SPANS) as readonly Span[];

const OUTCOMES = ["answered", "failed", "escalated", "unjudged"] as const;
const DEFAULT_SPAN: Span = "300";
/** Maximum length of a model, an engine or a search. */
const LONGEST_TEXT = 200;
/** The year 2100: later times are not valid. */
const LATEST_MS = Date.UTC(2100, 0);
const SHORTEST_ZOOM_MS = 1000;
/** Nothing older is stored, and no longer range is requested. */
const LONGEST_ZOOM_MS = 31 * 86_400_000;

/** What defines the Live page's view. */
export interface LiveView {
  readonly scope: Scope;
  /** Model, engine or node of GPUs; null: the first one. */
  readonly of: string | null;
  readonly span: Span;
  /** The zoomed time range; null: charts follow the present. */
  readonly zoom: TimeWindow | null;
  readonly filter: ChosenFilter;
}

const textIn = (params: URLSearchParams, name: string): string | null => {
  const text = params.get(name)?.trim() ?? "";
  return text === "" || text.length > LONGEST_TEXT ? null : text;
};

function zoomIn(params: URLSearchParams): TimeWindow | null {
  const fromMs = number({ min: 0, max: LATEST_MS }).parse(params.get("from"));
  const toMs = number({ min: 0, max: LATEST_MS }).parse(params.get("to"));
  if (fromMs === null || toMs === null) return null;
  const spanMs = toMs - fromMs;
  return spanMs < SHORTEST_ZOOM_MS || spanMs > LONGEST_ZOOM_MS ? null : { fromMs, toMs };
}

export const liveCodec: UrlCodec<LiveView> = {
  parse: (params) => ({
    scope: word(SCOPES).parse(params.get("scope")) ?? "cluster",
    of: textIn(params, "of"),
    span: word(SPAN_NAMES).parse(params.get("span")) ?? DEFAULT_SPAN,
    zoom: zoomIn(params),
    filter: {
      outcome: word(OUTCOMES).parse(params.get("outcome")) ?? "any",
      model: textIn(params, "model"),
      slowerThanSeconds: number({ min: 0, max: 86_400 }).parse(params.get("slower")),
      text: textIn(params, "find"),
    },
  }),
  format: ({ scope, of, span, zoom, filter }) => ({
    scope: scope === "cluster" ? undefined : scope,
    of: of ?? undefined,
    span: span === DEFAULT_SPAN ? undefined : span,
    from: zoom === null ? undefined : String(Math.floor(zoom.fromMs)),
    to: zoom === null ? undefined : String(Math.ceil(zoom.toMs)),
    outcome: filter.outcome === "any" ? undefined : filter.outcome,
    model: filter.model ?? undefined,
    slower: filter.slowerThanSeconds === null ? undefined : String(filter.slowerThanSeconds),
    find: filter.text ?? undefined,
  }),
};
