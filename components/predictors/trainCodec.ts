import { readWord } from "../url/readParam";
import type { UrlCodec } from "../url/useUrlView";

const kinds = ["lengths", "traffic", "confidence", "configurations"] as const;

/** What the form of trainings opens with, where another page leads to it. */
export interface TrainView {
  readonly train: (typeof kinds)[number] | null;
  /** Declared workflow whose configurations are to be learnt, and the models it is to run on; null: the form's own. */
  readonly workflow: string | null;
  readonly models: readonly string[] | null;
}

const LONGEST_TEXT = 1000;

const textIn = (params: URLSearchParams, name: string): string | null => {
  const text = params.get(name);
  return text === null || text === "" || text.length > LONGEST_TEXT ? null : text;
};

export const trainCodec: UrlCodec<TrainView> = {
  parse: (params) => ({
    train: readWord(params, "train", kinds),
    workflow: textIn(params, "workflow"),
    models: textIn(params, "models")?.split(",") ?? null,
  }),
  format: ({ train, workflow, models }) => ({
    train: train ?? undefined,
    workflow: workflow ?? undefined,
    models: models === null || models.length === 0 ? undefined : models.join(","),
  }),
};

/** Where a declared workflow's configurations are trained over the models of a plan, from its workload's labels. */
export function trainPath(workflow: string, plan: { readonly workloadId: string; readonly models: readonly string[] } | null): string {
  const params = new URLSearchParams({ tab: "predictors", train: "configurations", workflow });
  if (plan !== null) {
    params.set("workload", plan.workloadId);
    params.set("models", plan.models.join(","));
  }
  return `/lab?${params}`;
}
