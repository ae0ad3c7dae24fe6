import { readNumber, readWord } from "../url/readParam";
import type { UrlCodec } from "../url/useUrlView";
import { type SortKey, sortKeys } from "./prepareTable";

export const labTabs = ["race", "runs", "predictors"] as const;
export type LabTab = (typeof labTabs)[number];

/** What the latency of the frontier and of the lines against the rate is of. */
export const latencyKinds = ["latency", "per-token", "per-token-p95"] as const;
export type LatencyKind = (typeof latencyKinds)[number];

/** What defines the Lab page's view. */
export interface LabView {
  readonly tab: LabTab;
  /** What a description is suggested for while there is none of its own. */
  readonly workload: string | null;
  readonly plan: string | null;
  /** The description, as `formatSpec` writes it; null: the suggested one. */
  readonly spec: string | null;
  /** Id of the run whose figures are looked at; null: none. */
  readonly run: string | null;
  readonly latency: LatencyKind;
  /** Index of the rate that figures of one rate are of; null: the middle one. */
  readonly rate: number | null;
  /** Index of the system that others are compared to; null: the first. */
  readonly against: number | null;
  /** Indices of the systems in the charts of single systems; null: one of each name. */
  readonly shown: readonly number[] | null;
  readonly sort: SortKey;
  readonly descending: boolean;
}

const MOST_INDEX = 1000;
const isIndex = (value: number): boolean => Number.isInteger(value) && value >= 0 && value < MOST_INDEX;

function readIndices(text: string | null): readonly number[] | null {
  if (text === null || text === "") return null;
  const values = text.split(".").map(Number);
  return values.every(isIndex) ? [...new Set(values)] : null;
}

function readIndex(params: URLSearchParams, name: string): number | null {
  const value = readNumber(params, name, { min: 0, max: MOST_INDEX - 1 });
  return value !== null && isIndex(value) ? value : null;
}

const index = (value: number | null) => (value === null ? undefined : String(value));

export const labCodec: UrlCodec<LabView> = {
  parse: (params) => {
    const run = params.get("run");
    return {
      tab: readWord(params, "tab", labTabs) ?? "race",
      workload: params.get("workload"),
      plan: params.get("plan"),
      spec: params.get("spec"),
      run: run !== null && /^[0-9a-f]{64}$/.test(run) ? run : null,
      latency: readWord(params, "latency", latencyKinds) ?? "latency",
      rate: readIndex(params, "at"),
      against: readIndex(params, "against"),
      shown: readIndices(params.get("shown")),
      sort: readWord(params, "sort", sortKeys) ?? "system",
      descending: readWord(params, "direction", ["descending"]) !== null,
    };
  },
  format: (view) => ({
    tab: view.tab === "race" ? undefined : view.tab,
    workload: view.workload ?? undefined,
    plan: view.plan ?? undefined,
    spec: view.spec ?? undefined,
    run: view.run ?? undefined,
    latency: view.latency === "latency" ? undefined : view.latency,
    at: index(view.rate),
    against: index(view.against),
    shown: view.shown === null || view.shown.length === 0 ? undefined : view.shown.join("."),
    sort: view.sort === "system" ? undefined : view.sort,
    direction: view.descending ? "descending" : undefined,
  }),
};

/** What of the view belongs to one run, cleared when another is looked at: indices mean other things there. */
export const noneChosen = { rate: null, against: null, shown: null } as const satisfies Partial<LabView>;
