import { existsSync } from "node:fs";
import { join, relative } from "node:path";
import type { NeededData } from "@/server/cli/reproduce/reproduction";
import { data } from "../lib/compareData";

const files = {
  outcomes: {
    path: ["quality", "cascade_outcomes.csv"],
    what: "answers of model families to the same prompts, right or wrong, with tokens",
    from: "the results that WildEval/ZeroEval and allenai/WildBench publish on GitHub",
  },
  prompts: { path: ["quality", "prompts.csv"], what: "the prompts' texts", from: "WildEval/ZeroEval on GitHub" },
  gsm: { path: ["quality", "answers_gsm.csv.gz"], what: "extracted answers to gsm", from: "WildEval/ZeroEval on GitHub" },
  crux: { path: ["quality", "answers_crux.csv.gz"], what: "extracted answers to crux", from: "WildEval/ZeroEval on GitHub" },
  arrivals: {
    path: ["traces", "AzureLLMInferenceTrace_conv.csv"],
    what: "arrivals and lengths of a conversation service",
    from: "Azure/AzurePublicDataset on GitHub",
  },
  calls: { path: ["workflows", "calls.csv"], what: "calls of agents that build software", from: "OpenBMB/ChatDev on GitHub" },
  runs: { path: ["workflows", "runs.csv"], what: "the runs of those calls", from: "OpenBMB/ChatDev on GitHub" },
} as const;

export type DataName = keyof typeof files;

/** Files that a system's benchmarks read, and whether each is there. */
export const neededData = (names: readonly DataName[], root = process.env.WEIR_ROOT ?? process.cwd()): readonly NeededData[] =>
  names.map((name) => {
    const { path, what, from } = files[name];
    const file = join(data, ...path);
    return { file: relative(root, file), what, from, present: existsSync(file) };
  });
