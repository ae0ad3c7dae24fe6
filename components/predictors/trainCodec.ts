import { codecOf, text, word } from "../url/addressFields";

const kinds = ["lengths", "traffic", "confidence", "configurations"] as const;

const name = text(1000);

/** Initial values of the training form, where another page links to it. */
export const trainCodec = codecOf({
  train: word(kinds),
  /** Declared workflow whose configurations are to be learnt, and its models; null: the form's defaults. */
  workflow: name,
  models: {
    parse: (models): readonly string[] | null => name.parse(models)?.split(",") ?? null,
    format: (models: readonly string[] | null) => models?.join(",") || undefined,
  },
});

/** The link that trains a declared workflow's configurations for the models of a plan, from its workload's labels. */
export function trainPath(workflow: string, plan: { readonly workloadId: string; readonly models: readonly string[] } | null): string {
  const params = new URLSearchParams({ tab: "predictors", train: "configurations", workflow });
  if (plan !== null) {
    params.set("workload", plan.workloadId);
    params.set("models", plan.models.join(","));
  }
  return `/lab?${params}`;
}
