import { codecOf, flag, number, text, type ViewOf, whole, withDefault, word } from "@/components/url/addressFields";
import type { KeptEnsemble, ScheduleKind } from "@/server/contracts/studio";

export const ensembleTabs = ["place", "gate", "online", "batches"] as const;
export type EnsembleTab = (typeof ensembleTabs)[number];

const storages = ["local-nvme", "network-disk", "object-store"] as const;

const confidenceKinds = ["plurality", "accuracy-weighted", "length-aware"] as const;
export type ConfidenceKind = (typeof confidenceKinds)[number];

export const snippetLanguages = ["curl", "python", "typescript"] as const;
export type SnippetLanguage = (typeof snippetLanguages)[number];

/** Dialogs: to make or change an ensemble, to bring a sample of answers, to write a tau into an ensemble, to serve one, to start a batch. */
const dialogs = ["new", "edit", "sample", "tau", "serve", "start"] as const;

/** What a placement is compared with. */
const baselines = ["round-robin", "data-concurrent", "list-scheduling"] as const satisfies readonly ScheduleKind[];
export type Baseline = (typeof baselines)[number];

const LONGEST_TEXT = 300;
const MOST_EXPERTS = 16;

/** Names of models hold no commas, or they could not stand in tables of answers. */
function modelsIn(value: string | null): readonly string[] | null {
  const names = [...new Set((value ?? "").split(","))].filter((name) => name !== "" && name.length <= LONGEST_TEXT);
  return names.length === 0 ? null : names.slice(0, MOST_EXPERTS);
}

const name = text(LONGEST_TEXT);
const upTo = (max: number) => whole({ min: 1, max });

/** The Ensembles page's view, beside the cluster. null: the first there is, or what suits it. */
export const ensemblesCodec = codecOf({
  tab: withDefault(word(ensembleTabs), "place"),
  /** Name of the ensemble that is looked at. */
  ensemble: name,
  open: word(dialogs),

  /** What the placement is drawn beside. */
  schedule: word(baselines),
  gpu: name,
  workers: upTo(256),
  perWorker: upTo(16),
  /** Models per worker; null: swept. */
  k: upTo(16),
  questions: upTo(10_000_000),
  /** Where answers' lengths are from: `workload:<id>` or `sample:<id>`. */
  lengths: name,
  storage: withDefault(word(storages), "local-nvme"),
  /** Each expert on one worker. */
  single: flag("yes"),
  /** File that says who answers what; it was sent, and is not in the address itself. */
  assigned: name,

  /** Id of the sample of answers a gate is replayed on. */
  sample: name,
  experts: { parse: modelsIn, format: (models: readonly string[] | null) => models?.join(",") },
  /** Experts that answer a question. */
  asked: upTo(MOST_EXPERTS),
  /** Model whose own answers stand in for an aggregator's. */
  aggregator: name,
  /** null: the ensemble's own. */
  confidence: word(confidenceKinds),
  /** Above 1: all is aggregated. */
  tau: number({ min: 0, max: 2 }),
  /** Points of accuracy that a tau may cost. */
  allowed: number({ min: 0, max: 20 }),

  snippet: withDefault(word(snippetLanguages), "curl"),
  /** Id of the batch that is looked at. */
  batch: name,
  /** Prompts that are placed, and of which a batch is to be started. */
  prompts: name,
});
export type EnsemblesView = ViewOf<typeof ensemblesCodec>;

/** The ensemble that the address names, where it names none the first; null: there is none, or none of that name. */
export function ensembleInView(ensembles: readonly KeptEnsemble[], named: string | null): KeptEnsemble | null {
  return (named === null ? ensembles[0] : ensembles.find(({ ensemble }) => ensemble.name === named)) ?? null;
}
