import { aucOf } from "@/solver/judging/concordance";
import { mean } from "@/solver/numeric/quantile";
import { searchChains, searchContext } from "@/solver/prediction/chainSearch";
import { headFeatures } from "@/solver/prediction/configurations";
import { allLogits, verdicts } from "@/solver/prediction/headBank";
import { heldOutConfigurations } from "@/solver/prediction/heldOut";
import type { HeldOutError } from "@/solver/prediction/predictor";
import { hasConfiguration } from "@/solver/workflow/configurationSet";
import type { HeadCase } from "./cases";

/** Number of heads whose area under the ROC curve is measured, spread over all. */
const MOST_MEASURED_HEADS = 243;

/** Results of heads and their search on held-out prompts; shares in 0..1. */
export interface HeadFigures extends NonNullable<HeldOutError["configurations"]> {
  readonly configurations: number;
  /** Share of configurations that are accurate: the precision of a random choice. */
  readonly accurate: number;
  /** Mean area under the ROC curve over heads. */
  readonly auc: number;
  readonly threshold: number;
  /** The share never evaluated among the heads that would reject; NaN without such heads. */
  readonly neverEvaluated: number;
  /** The share found among the configurations whose heads would accept; NaN without such heads. */
  readonly found: number;
}

/** Figures of one case. */
export function headFigures({ artefact, left }: HeadCase): HeadFigures {
  const { configurations } = heldOutConfigurations(artefact, left);
  if (configurations === undefined) throw new Error("No figures of configurations");
  const { space } = left;
  const heads = space.size - 1;
  const matrix = headFeatures(artefact, left);
  const logits = allLogits(artefact.heads, matrix);
  const least = Math.log(artefact.threshold / (1 - artefact.threshold));
  const accepts = (prompt: number, head: number): boolean => (logits[prompt * heads + head] ?? 0) >= least;
  let evaluatedRejecting = 0;
  const searches = searchChains(
    searchContext(space.options.map(({ length }) => length)),
    left.facts.length,
    ({ prompt, configuration }) => {
      const said = verdicts(artefact.heads, matrix, { row: prompt, head: configuration }, least);
      for (const accepted of said) evaluatedRejecting += 1 - accepted;
      return said;
    },
  );
  let [accepting, found, accurate] = [0, 0, 0];
  for (const [prompt, search] of searches.entries()) {
    for (let head = 0; head < heads; head++) {
      const isFound = hasConfiguration(search.accurate, head);
      accurate += left.accurate[prompt * space.size + head] ?? 0;
      accepting += accepts(prompt, head) ? 1 : 0;
      found += isFound && accepts(prompt, head) ? 1 : 0;
    }
  }
  return {
    ...configurations,
    configurations: space.size,
    accurate: accurate / logits.length,
    auc: meanAuc(logits, left, heads),
    threshold: artefact.threshold,
    neverEvaluated: 1 - evaluatedRejecting / (logits.length - accepting),
    found: found / accepting,
  };
}

/** Mean area under the ROC curve over heads of which some prompts are accurate and some not, by logits by prompt, then by head. */
export function meanAuc(logits: Float32Array, { facts, accurate }: HeadCase["left"], heads: number): number {
  const step = Math.max(1, Math.floor(heads / MOST_MEASURED_HEADS));
  const areas: number[] = [];
  for (let head = 0; head < heads; head += step) {
    const area = aucOf(
      facts.map((_, prompt) => ({
        score: logits[prompt * heads + head] ?? 0,
        label: (accurate[prompt * (heads + 1) + head] ?? 0) > 0.5 ? 1 : 0,
      })),
    );
    if (area !== null) areas.push(area.value);
  }
  return mean(areas);
}
