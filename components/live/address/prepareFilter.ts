import type { Option } from "@/components/ui/Field";
import type { DecisionFilter } from "@/server/contracts/studio";

/** An operator's filter; the displayed subject decides the engine. */
export type ChosenFilter = Omit<DecisionFilter, "replica">;

export const NO_FILTER: ChosenFilter = { outcome: "any", model: null, slowerThanSeconds: null, text: null };

export const isFiltered = ({ outcome, model, slowerThanSeconds, text }: ChosenFilter): boolean =>
  outcome !== "any" || model !== null || slowerThanSeconds !== null || text !== null;

/** Records of the displayed subject that pass the filter: for a model or an engine, those of requests that reached it. */
export function scopedFilter(chosen: ChosenFilter, scope: "cluster" | "model" | "engine" | "gpu", of: string | null): DecisionFilter {
  return { ...chosen, model: scope === "model" && of !== null ? of : chosen.model, replica: scope === "engine" ? of : null };
}

/** From an interactive answer to a long report. */
const SLOW_SECONDS = [1, 2, 5, 10, 30, 60, 120] as const;

/** Latencies to choose from, including one that a link set. */
export function slowerOptions(chosen: number | null): readonly Option[] {
  const seconds = [...new Set([...SLOW_SECONDS, ...(chosen === null ? [] : [chosen])])].sort((a, b) => a - b);
  return [{ value: "", text: "any time" }, ...seconds.map((each) => ({ value: String(each), text: `${each} s` }))];
}

/** Models to choose from, including one that a link set, whether or not it is served now. */
export function modelOptions(models: readonly string[], chosen: string | null): readonly Option[] {
  const names = [...new Set([...models, ...(chosen === null ? [] : [chosen])])];
  return [{ value: "", text: "any model" }, ...names.map((name) => ({ value: name, text: name }))];
}
