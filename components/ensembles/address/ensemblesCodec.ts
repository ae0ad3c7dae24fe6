import { codecOf, flag, number, text, type ViewOf, whole, withDefault, word } from "@/components/url/addressFields";
import type { KeptEnsemble, ScheduleKind } from "@/server/contracts/studio";

export const ensembleTabs = ["place", "gate", "online", "batches"] as const;
export type EnsembleTab = (typeof ensembleTabs)[number];

const storages = ["local-nvme", "network-disk", "object-store"] as const;

const confidenceKinds = ["plurality", "accuracy-weighted", "length-aware"] as const;
export type ConfidenceKind = (typeof confidenceKinds)[number];

export const snippetLanguages = ["curl", "python", "typescript"] as const;
export type SnippetLanguage = (typeof snippetLanguages)[number];

/** Dialogs: create or edit an ensemble, add a sample of answers, write a tau into an ensemble, serve one, start a batch. */
const dialogs = ["new", "edit", "sample", "tau", "serve", "start"] as const;

/** What a placement is compared with. */
const baselines = ["round-robin", "data-concurrent", "list-scheduling"] as const satisfies readonly ScheduleKind[];
export type Baseline = (typeof baselines)[number];

const LONGEST_TEXT = 300;
const MOST_EXPERTS = 16;

/** Names of models hold no commas, because tables of answers separate them with commas. */
function modelsIn(value: string | null): readonly string[] | null {
  const names = [...new Set((value ?? "").split(","))].filter((name) => name !== "" && name.length <= LONGEST_TEXT);
  return names.length === 0 ? null : names.slice(0, MOST_EXPERTS);
}

const name = text(LONGEST_TEXT);
const upTo = (max: number) => whole({ min: 1, max });

/** The Ensembles page's view, in addition to the cluster. null: the first one, or a suitable default. */
export const ensemblesCodec = codecOf({
  tab: withDefault(word(ensembleTabs), "place"),
  /** Name of the displayed ensemble. */
  ensemble: name,
  open: word(dialogs),

  /** The baseline that the placement is drawn next to. */
  schedule: word(baselines),
  gpu: name,
  workers: upTo(256),
  perWorker: upTo(16),
  /** Models per worker; null: swept. */
  k: upTo(16),
  questions: upTo(10_000_000),
  /** Source of the answers' lengths: `workload:<id>` or `sample:<id>`. */
  lengths: name,
  storage: withDefault(word(storages), "local-nvme"),
  /** Each expert on one worker. */
  single: flag("yes"),
  /** File that assigns questions to experts; it was uploaded, and is not in the address itself. */
  assigned: name,

  /** Id of the sample of answers a gate is replayed on. */
  sample: name,
  experts: { parse: modelsIn, format: (models: readonly string[] | null) => models?.join(",") },
  /** Experts that answer a question. */
  asked: upTo(MOST_EXPERTS),
  /** Model whose own answers replace an aggregator's. */
  aggregator: name,
  /** null: the ensemble's own. */
  confidence: word(confidenceKinds),
  /** Above 1: all questions are aggregated. */
  tau: number({ min: 0, max: 2 }),
  /** Points of accuracy that a tau may cost. */
  allowed: number({ min: 0, max: 20 }),

  snippet: withDefault(word(snippetLanguages), "curl"),
  /** Id of the displayed batch. */
  batch: name,
  /** Prompts to place, and to start a batch from. */
  prompts: name,
});
export type EnsemblesView = ViewOf<typeof ensemblesCodec>;

/** The ensemble that the address names, else the first; null: there is none, or none of that name. */
export function ensembleInView(ensembles: readonly KeptEnsemble[], named: string | null): KeptEnsemble | null {
  return (named === null ? ensembles[0] : ensembles.find(({ ensemble }) => ensemble.name === named)) ?? null;
}
