import { codecOf, flag, named, text, type ViewOf, whole, withDefault, word } from "../url/addressFields";
import { sortKeys } from "./prepareTable";

export const labTabs = ["race", "runs", "predictors"] as const;
export type LabTab = (typeof labTabs)[number];

/** Which latency the frontier and the lines against the rate show. */
export const latencyKinds = ["latency", "per-token", "per-token-p95"] as const;
export type LatencyKind = (typeof latencyKinds)[number];

const MOST_INDEX = 1000;
const isIndex = (value: number): boolean => Number.isInteger(value) && value >= 0 && value < MOST_INDEX;
const index = whole({ min: 0, max: MOST_INDEX - 1 });

function readIndices(value: string | null): readonly number[] | null {
  if (value === null || value === "") return null;
  const values = value.split(".").map(Number);
  return values.every(isIndex) ? [...new Set(values)] : null;
}

/** The Lab page's view. */
export const labCodec = codecOf({
  tab: withDefault(word(labTabs), "race"),
  /** The workload that a description is suggested for while the address has no description. */
  workload: text(),
  plan: text(),
  /** The description, as `formatSpec` writes it; null: the suggested one. */
  spec: text(),
  /** Id of the displayed run; null: none. */
  run: { ...text(), parse: (id) => (id !== null && /^[0-9a-f]{64}$/.test(id) ? id : null) },
  latency: withDefault(word(latencyKinds), "latency"),
  /** Index of the rate at which figures of one rate are shown; null: the middle one. */
  rate: named("at", index),
  /** Index of the system that others are compared to; null: the first. */
  against: index,
  /** Indices of the systems in the charts of single systems; null: one of each name. */
  shown: { parse: readIndices, format: (shown: readonly number[] | null) => shown?.join(".") || undefined },
  sort: withDefault(word(sortKeys), "system"),
  descending: named("direction", flag("descending")),
});
export type LabView = ViewOf<typeof labCodec>;

/** The part of the view that belongs to one run; it is cleared for another run, where indices have other meanings. */
export const noneChosen = { rate: null, against: null, shown: null } as const satisfies Partial<LabView>;
