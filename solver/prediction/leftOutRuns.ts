/** Reasons why a line is no run. */
export const badRunWords = {
  damaged: "no JSON with a text as input, a configuration of agents and models, and a number as quality",
  quality: "a quality that is not from 0 to 100",
  agents: "other agents than the workflow has",
  models: "a model that is not among the chosen ones",
  constraints: "a model that the workflow does not let its agent have",
} as const;
export type BadRun = keyof typeof badRunWords;

/** The part of a file of executed runs that is not used for training. */
export interface LeftOutRuns {
  /** Lines that are no run of the workflow over the models, by reason, the most frequent first. */
  readonly lines: readonly { readonly problem: BadRun; readonly lines: number; readonly firstLine: number }[];
  /** Inputs with a configuration that was not executed; and for the first in the file its line and its smallest missing configuration. */
  readonly inputs: number;
  readonly first: { readonly line: number; readonly lacks: Readonly<Record<string, string>> } | null;
}

/** A configuration in a sentence: every agent with its model. */
export const configurationWords = (names: Readonly<Record<string, string>>): string =>
  Object.entries(names)
    .map(([agent, model]) => `${agent} on ${model}`)
    .join(", ");
