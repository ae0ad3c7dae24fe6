import type { DecisionFilter } from "@/server/contracts/studio";
import type { Option } from "../ui/Field";

export const NO_FILTER: DecisionFilter = { outcome: "any", model: null, slowerThanSeconds: null, text: null };

export const isFiltered = ({ outcome, model, slowerThanSeconds, text }: DecisionFilter): boolean =>
  outcome !== "any" || model !== null || slowerThanSeconds !== null || text !== null;

/** From an interactive answer to a long report. */
const SLOW_SECONDS = [1, 2, 5, 10, 30, 60, 120] as const;

/** Latencies to choose from; one that a link brought stands among them. */
export function slowerOptions(chosen: number | null): readonly Option[] {
  const seconds = [...new Set([...SLOW_SECONDS, ...(chosen === null ? [] : [chosen])])].sort((a, b) => a - b);
  return [{ value: "", text: "any time" }, ...seconds.map((each) => ({ value: String(each), text: `${each} s` }))];
}

/** Models to choose from; one that a link brought stands among them, whether or not it is served now. */
export function modelOptions(models: readonly string[], chosen: string | null): readonly Option[] {
  const names = [...new Set([...models, ...(chosen === null ? [] : [chosen])])];
  return [{ value: "", text: "any model" }, ...names.map((name) => ({ value: name, text: name }))];
}
