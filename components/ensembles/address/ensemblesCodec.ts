import { readNumber, readWord } from "@/components/url/readParam";
import type { UrlCodec } from "@/components/url/useUrlView";
import type { KeptEnsemble, ScheduleKind } from "@/server/contracts/studio";

export const ensembleTabs = ["place", "gate", "online", "batches"] as const;
export type EnsembleTab = (typeof ensembleTabs)[number];

export const storages = ["local-nvme", "network-disk", "object-store"] as const;
type Storage = (typeof storages)[number];

export const confidenceKinds = ["plurality", "accuracy-weighted", "length-aware"] as const;
export type ConfidenceKind = (typeof confidenceKinds)[number];

export const snippetLanguages = ["curl", "python", "typescript"] as const;
export type SnippetLanguage = (typeof snippetLanguages)[number];

/** Dialogs: to make or change an ensemble, to bring a sample of answers, to write a tau into an ensemble, to serve one, to start a batch. */
const dialogs = ["new", "edit", "sample", "tau", "serve", "start"] as const;

/** What a placement is compared with. */
export const baselines = ["round-robin", "data-concurrent", "list-scheduling"] as const satisfies readonly ScheduleKind[];
export type Baseline = (typeof baselines)[number];

/** What defines the Ensembles page's view, beside the cluster. null: the first there is, or what suits it. */
export interface EnsemblesView {
  readonly tab: EnsembleTab;
  /** Name of the ensemble that is looked at. */
  readonly ensemble: string | null;
  readonly open: (typeof dialogs)[number] | null;

  /** What the placement is drawn beside. */
  readonly schedule: Baseline | null;
  readonly gpu: string | null;
  readonly workers: number | null;
  readonly perWorker: number | null;
  /** Models per worker; null: swept. */
  readonly k: number | null;
  readonly questions: number | null;
  /** Where answers' lengths are from: `workload:<id>` or `sample:<id>`. */
  readonly lengths: string | null;
  readonly storage: Storage;
  /** Each expert on one worker. */
  readonly single: boolean;
  /** File that says who answers what; it was sent, and is not in the address itself. */
  readonly assigned: string | null;

  /** Id of the sample of answers a gate is replayed on. */
  readonly sample: string | null;
  readonly experts: readonly string[] | null;
  /** Experts that answer a question. */
  readonly asked: number | null;
  /** Model whose own answers stand in for an aggregator's. */
  readonly aggregator: string | null;
  /** null: the ensemble's own. */
  readonly confidence: ConfidenceKind | null;
  /** Above 1: all is aggregated. */
  readonly tau: number | null;
  /** Points of accuracy that a tau may cost. */
  readonly allowed: number | null;

  readonly snippet: SnippetLanguage;
  /** Id of the batch that is looked at. */
  readonly batch: string | null;
  /** Prompts that are placed, and of which a batch is to be started. */
  readonly prompts: string | null;
}

const LONGEST_TEXT = 300;
const MOST_EXPERTS = 16;

const textIn = (params: URLSearchParams, name: string): string | null => {
  const text = params.get(name);
  return text === null || text === "" || text.length > LONGEST_TEXT ? null : text;
};

const wholeIn = (params: URLSearchParams, name: string, max: number): number | null => {
  const value = readNumber(params, name, { min: 1, max });
  return value !== null && Number.isInteger(value) ? value : null;
};

/** Names of models hold no commas, or they could not stand in tables of answers. */
function modelsIn(text: string | null): readonly string[] | null {
  const names = [...new Set((text ?? "").split(","))].filter((name) => name !== "" && name.length <= LONGEST_TEXT);
  return names.length === 0 ? null : names.slice(0, MOST_EXPERTS);
}

/** A number in the address; undefined leaves it out. */
const numberOut = (value: number | null): string | undefined => (value === null ? undefined : String(value));

export const ensemblesCodec: UrlCodec<EnsemblesView> = {
  parse: (params) => ({
    tab: readWord(params, "tab", ensembleTabs) ?? "place",
    ensemble: textIn(params, "ensemble"),
    open: readWord(params, "open", dialogs),
    schedule: readWord(params, "schedule", baselines),
    gpu: textIn(params, "gpu"),
    workers: wholeIn(params, "workers", 256),
    perWorker: wholeIn(params, "perWorker", 16),
    k: wholeIn(params, "k", 16),
    questions: wholeIn(params, "questions", 10_000_000),
    lengths: textIn(params, "lengths"),
    storage: readWord(params, "storage", storages) ?? "local-nvme",
    single: params.get("single") === "yes",
    assigned: textIn(params, "assigned"),
    sample: textIn(params, "sample"),
    experts: modelsIn(params.get("experts")),
    asked: wholeIn(params, "asked", MOST_EXPERTS),
    aggregator: textIn(params, "aggregator"),
    confidence: readWord(params, "confidence", confidenceKinds),
    tau: readNumber(params, "tau", { min: 0, max: 2 }),
    allowed: readNumber(params, "allowed", { min: 0, max: 20 }),
    snippet: readWord(params, "snippet", snippetLanguages) ?? "curl",
    batch: textIn(params, "batch"),
    prompts: textIn(params, "prompts"),
  }),
  format: (view) => ({
    tab: view.tab === "place" ? undefined : view.tab,
    ensemble: view.ensemble ?? undefined,
    open: view.open ?? undefined,
    schedule: view.schedule ?? undefined,
    gpu: view.gpu ?? undefined,
    workers: numberOut(view.workers),
    perWorker: numberOut(view.perWorker),
    k: numberOut(view.k),
    questions: numberOut(view.questions),
    lengths: view.lengths ?? undefined,
    storage: view.storage === "local-nvme" ? undefined : view.storage,
    single: view.single ? "yes" : undefined,
    assigned: view.assigned ?? undefined,
    sample: view.sample ?? undefined,
    experts: view.experts?.join(","),
    asked: numberOut(view.asked),
    aggregator: view.aggregator ?? undefined,
    confidence: view.confidence ?? undefined,
    tau: numberOut(view.tau),
    allowed: numberOut(view.allowed),
    snippet: view.snippet === "curl" ? undefined : view.snippet,
    batch: view.batch ?? undefined,
    prompts: view.prompts ?? undefined,
  }),
};

/** The ensemble that the address names, where it names none the first; null: there is none, or none of that name. */
export function ensembleInView(ensembles: readonly KeptEnsemble[], named: string | null): KeptEnsemble | null {
  return (named === null ? ensembles[0] : ensembles.find(({ ensemble }) => ensemble.name === named)) ?? null;
}
