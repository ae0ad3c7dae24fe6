import type { Outputs } from "@/components/api/trpc";
import type { Option } from "@/components/ui/Field";
import { formatCounted } from "@/components/ui/format";
import { workloadOptions } from "@/components/workloads/workloadOptions";
import type { AnswerSampleSummary, PlaceRequest, PromptSet, WorkloadSummary } from "@/server/contracts/studio";
import type { Ensemble } from "@/solver/ensemble/gate/ensembleDocument";
import { feasibleShapes } from "@/solver/hardware/replicaShapes";
import { gpuCount, gpuTypes } from "@/solver/plan/clusterGpus";
import type { ClusterSpec } from "@/solver/plan/clusterSpec";
import type { EnsemblesView } from "../address/ensemblesCodec";
import type { SentAssignments } from "./AssignmentsField";

type Cards = Pick<Outputs["cards"]["list"], "models" | "gpus">;

/** The data available to place an ensemble. */
export interface PlaceGround {
  readonly cluster: ClusterSpec;
  readonly cards: Cards;
  readonly workloads: readonly Pick<WorkloadSummary, "id" | "name" | "version" | "prompts" | "models">[];
  readonly samples: readonly Pick<AnswerSampleSummary, "id" | "name" | "questions" | "models">[];
  readonly prompts: readonly Pick<PromptSet, "id" | "name" | "prompts" | "deleted">[];
}

/** A placement request: the address's choices, and suitable defaults for the rest. */
export interface PlaceForm {
  readonly gpu: string;
  readonly gpusPerWorker: number;
  readonly workers: number;
  readonly questions: number;
  /** `workload:<id>` or `sample:<id>`; empty: none. */
  readonly lengths: string;
  readonly gpuOptions: readonly Option[];
  readonly lengthOptions: readonly Option[];
  /** Prompts whose categories decide which experts answer them. */
  readonly promptOptions: readonly Option[];
  /** Empty: none are chosen. */
  readonly prompts: string;
  /** What the address names and does not exist, and its replacement, one sentence each. */
  readonly strayed: readonly string[];
  readonly request: PlaceRequest | null;
  /** Why no request is possible, with the remedy; null: one is. */
  readonly problem: string | null;
}

/** GPUs of one server where no node of the cluster says how many. */
const GPUS_PER_SERVER = 8;
/** Workers on hardware that the cluster does not have. */
const WORKERS_ELSEWHERE = 8;
/** Default number of questions. */
const QUESTIONS = 1_000;
/** Most workers that can be placed at once. */
const MOST_WORKERS = 256;

/** K at most; empty: whichever is best. */
export const kOptions = [
  { value: "", text: "swept" },
  ...Array.from({ length: 16 }, (_, at) => ({ value: String(at + 1), text: String(at + 1) })),
];

export const storageOptions: readonly (Option & { readonly value: EnsemblesView["storage"] })[] = [
  { value: "local-nvme", text: "local NVMe" },
  { value: "network-disk", text: "network disk" },
  { value: "object-store", text: "object store" },
];

/** The fewest GPUs of a worker on which each of the models fits; 1 for models without a card. */
export function gpusNeeded(models: readonly string[], gpu: string, cards: Cards): number {
  const gpuCard = cards.gpus.find(({ id }) => id === gpu);
  const limits = { gpusPerNode: GPUS_PER_SERVER, maxGpus: GPUS_PER_SERVER };
  const needs = models.map((model) => {
    const card = cards.models.find(({ id }) => id === model);
    const shapes = card === undefined || gpuCard === undefined ? [] : feasibleShapes(card, gpuCard, limits);
    return Math.min(...shapes.filter(({ pp }) => pp === 1).map(({ tp }) => tp));
  });
  return Math.max(1, ...needs.filter(Number.isFinite));
}

/** Sources of lengths, those that have every expert first; the others say which are missing. */
function lengthSources(experts: readonly string[], { workloads, samples }: PlaceGround) {
  const texts = workloadOptions(workloads);
  const sources = [
    ...workloads.map(({ id, prompts, models }, at) => ({
      value: `workload:${id}`,
      text: `workload ${texts[at]?.text ?? id}`,
      questions: prompts,
      models,
    })),
    ...samples.map(({ id, name, questions, models }) => ({ value: `sample:${id}`, text: `sample ${name}`, questions, models })),
  ].map(({ models, ...source }) => ({ ...source, missing: experts.filter((expert) => !models.some(({ model }) => model === expert)) }));
  return sources.sort((a, b) => Number(a.missing.length > 0) - Number(b.missing.length > 0));
}

function lengthsOf(value: string): PlaceRequest["lengths"] {
  const [kind, id] = [value.slice(0, value.indexOf(":")), value.slice(value.indexOf(":") + 1)];
  return kind === "sample" ? { kind, sampleId: id } : { kind: "workload", workloadId: id };
}

/**
 * Composes the request to the planner: the address's choices, and defaults that suit the ensemble and the cluster.
 *
 * @param assigned the uploaded assignments that the address names; null: none, or they are gone.
 */
export function preparePlaceForm(
  ensemble: Ensemble,
  view: EnsemblesView,
  ground: PlaceGround,
  assigned: SentAssignments | null = null,
): PlaceForm {
  const { cluster, cards } = ground;
  const own = gpuTypes(cluster);
  const gpu = cards.gpus.find(({ id }) => id === view.gpu)?.id ?? own[0] ?? cards.gpus[0]?.id ?? "";
  const gpusPerWorker = view.perWorker ?? gpusNeeded(ensemble.experts, gpu, cards);
  const free = own.includes(gpu) ? Math.floor(gpuCount(cluster, gpu) / gpusPerWorker) : WORKERS_ELSEWHERE;
  const workers = view.workers ?? Math.min(MOST_WORKERS, Math.max(1, free));
  const sources = lengthSources(ensemble.experts, ground);
  const source = sources.find(({ value }) => value === view.lengths) ?? sources[0];
  const sets = ground.prompts.filter(({ deleted }) => !deleted);
  const set = sets.find(({ id }) => id === view.prompts);
  const questions = view.questions ?? set?.prompts ?? assigned?.questions ?? source?.questions ?? QUESTIONS;
  const problem =
    source === undefined
      ? "Answer lengths are unknown. Import a workload, or add a sample of answers on the Gate tab."
      : source.missing.length > 0
        ? `The ${source.text} has no answers of ${source.missing.join(", ")}. Choose other lengths, or add a sample of answers with all experts on the Gate tab.`
        : null;
  return {
    ...{ gpu, gpusPerWorker, workers, questions, problem },
    strayed: [
      ...(view.gpu === null || view.gpu === gpu ? [] : [`The GPU ${view.gpu} in the address has no card; this is ${gpu}.`]),
      ...(view.lengths === null || source === undefined || view.lengths === source.value
        ? []
        : [`The answer lengths in the address no longer exist; these are from the ${source.text}.`]),
      ...(view.prompts === null || set !== undefined ? [] : ["The prompts in the address no longer exist; none are chosen."]),
    ],
    ...{ lengths: source?.value ?? "", prompts: set?.id ?? "" },
    promptOptions: [
      { value: "", text: "any" },
      ...sets.map(({ id, name, prompts }) => ({ value: id, text: `${name}, ${formatCounted(prompts, "prompt")}` })),
    ],
    gpuOptions: [...cards.gpus]
      .sort((a, b) => Number(own.includes(b.id)) - Number(own.includes(a.id)))
      .map(({ id }) => ({ value: id, text: own.includes(id) ? `${id}, in this cluster` : id })),
    lengthOptions: sources.map(({ value, text, missing }) => ({
      value,
      text: missing.length === 0 ? text : `${text} (without ${formatCounted(missing.length, "expert")})`,
    })),
    request:
      source === undefined || problem !== null
        ? null
        : {
            ...{ ensemble, gpu, workers, gpusPerWorker, questions, maxModelsPerWorker: view.k },
            ...{ replicas: view.single ? "single" : "amortised", lengths: lengthsOf(source.value), storage: view.storage },
            ...(set === undefined ? {} : { promptSetId: set.id }),
            ...(assigned === null ? {} : { assignmentsUploadId: assigned.uploadId }),
          },
  };
}
