import { profileInUse } from "@/server/calibration/profileInUse";
import type { Outcome } from "@/server/contracts/studio";
import { DEFAULT_CONCURRENCY } from "@/server/contracts/studio/batches";
import type { PlaceRequest } from "@/server/contracts/studio/ensembles";
import { ensembleLengths, type LengthTable, sampleLengths, workloadLengths } from "@/server/planning/ensembles/ensembleLengths";
import { ownLimits } from "@/server/planning/ensembles/ownLimits";
import type { PlaceTask } from "@/server/planning/ensembles/placeEnsemble";
import { promptsByExpert, type RecruitedFor, recruitment } from "@/server/planning/ensembles/recruitment";
import { readSample } from "@/server/planning/ensembles/sampleThread";
import { type Assignments, importAssignments } from "@/server/planning/imports/importAssignments";
import type { Store } from "@/server/store/store";
import type { Uploads } from "@/server/store/uploads";
import { loadWorkload } from "@/server/workloads/storedWorkloads";
import type { Ensemble } from "@/solver/ensemble/gate/ensembleDocument";
import { type CardCatalogue, cardOf } from "@/solver/hardware/catalogue";

/** The data of the studio that placing reads. */
export interface PlaceGround {
  readonly store: Store;
  readonly uploads: Pick<Uploads, "open">;
  readonly cards: CardCatalogue;
  readonly signal: AbortSignal;
}

/** GPUs per node of hardware that is only described: the most common number. */
const usualNodeGpus = 8;

/**
 * A request for a placement, completed with the studio's data; a sentence if something is missing.
 *
 * @throws the signal's reason if it aborts.
 */
export async function placeTask(
  { ensemble, gpu, workers, gpusPerWorker, questions, ...request }: PlaceRequest,
  ground: PlaceGround,
): Promise<Outcome<{ readonly task: PlaceTask; readonly notes: readonly string[] }>> {
  const { store, cards } = ground;
  if (cardOf(cards.gpus, gpu) === undefined) return { ok: false, message: `There is no card of the GPU ${gpu}.` };
  const unknown = withoutCard(ensemble, cards);
  if (unknown !== null) return { ok: false, message: unknown };
  const found = await lengthsOf(request.lengths, ground);
  if (!found.ok) return found;
  const lengths = ensembleLengths(ensemble, found.table);
  if (typeof lengths === "string") return { ok: false, message: lengths };
  const assigned = await assignmentsOf(request.assignmentsUploadId, ground.uploads);
  if (!assigned.ok) return assigned;
  const asked = askedQuestions({ ...found, assignments: assigned.assignments, promptSetId: request.promptSetId }, store);
  if (!asked.ok) return asked;
  const recruited = recruitment(ensemble, asked.questions, assigned.assignments);
  if (!recruited.ok) return recruited;
  const counted = promptsByExpert(ensemble.experts, recruited.experts);
  const prompts = counted.map((count) => Math.round((count / asked.questions.length) * questions));
  const promptSet = request.promptSetId === undefined ? null : store.prompts.get(request.promptSetId);
  const gpusByNode = onUsualNodes(workers, gpusPerWorker);
  const { maxModelsPerWorker, replicas, storage } = request;
  return {
    ok: true,
    task: {
      ...{ ensemble, gpu, gpusPerWorker, workers, gpusByNode, maxModelsPerWorker, replicas, storage, questions, prompts, ...lengths },
      ownLimits: promptSet === null ? [] : ownLimits(promptSet, store.prompts),
      sessionRows: store.sessionRows.list(gpu, [...ensemble.experts, ensemble.aggregator.model]),
      engineProfile: profileInUse(store),
      cards,
      concurrency: DEFAULT_CONCURRENCY,
    },
    notes: [
      asked.says,
      `A session has ${DEFAULT_CONCURRENCY} requests in flight at most, as a batch has unless it asks for another number.`,
      `No engine goes beyond a node: the GPUs are taken to be ${gpusByNode[0]} to a node${gpusByNode.length > 1 ? ", the last may have fewer" : ""}.`,
    ],
  };
}

/** GPUs of a number of workers by node, whole workers on each. */
function onUsualNodes(workers: number, gpusPerWorker: number): readonly number[] {
  const perNode = Math.max(1, Math.floor(usualNodeGpus / gpusPerWorker));
  return Array.from({ length: Math.ceil(workers / perNode) }, (_, at) => Math.min(perNode, workers - at * perNode) * gpusPerWorker);
}

/** The refusal for models without a card; null if all have one. */
export function withoutCard({ experts, aggregator }: Pick<Ensemble, "experts" | "aggregator">, { models }: CardCatalogue): string | null {
  const unknown = [...new Set([...experts, aggregator.model])].filter((model) => cardOf(models, model) === undefined);
  return unknown.length === 0 ? null : `There is no card of ${unknown.join(", ")}, which says how large a model is: add one under Cards.`;
}

/** Who answers what, from an uploaded file; null if none is named. */
export async function assignmentsOf(
  uploadId: string | undefined,
  uploads: Pick<Uploads, "open">,
): Promise<Outcome<{ readonly assignments: Assignments | null }>> {
  if (uploadId === undefined) return { ok: true, assignments: null };
  const source = uploads.open(uploadId);
  if (source === null) return { ok: false, message: "The uploaded assignments are not kept any more: send them again." };
  const read = await importAssignments(source);
  return typeof read === "string" ? { ok: false, message: read } : { ok: true, assignments: read };
}

interface FoundLengths {
  readonly table: LengthTable;
  readonly ids: readonly string[];
}

async function lengthsOf(lengths: PlaceRequest["lengths"], { store, signal }: PlaceGround): Promise<Outcome<FoundLengths>> {
  if (lengths.kind === "workload") {
    const workload = loadWorkload(store, lengths.workloadId);
    if (workload === null) return { ok: false, message: `There is no workload ${lengths.workloadId}.` };
    return { ok: true, table: workloadLengths(workload), ids: workload.outcomes.promptIds };
  }
  const kept = store.answerSamples.stored(lengths.sampleId);
  if (kept === null) return { ok: false, message: "There is no such sample of answers." };
  const read = await readSample(kept, signal);
  if (!read.ok) return read;
  return { ok: true, table: sampleLengths(kept.summary.name, read.sample), ids: read.sample.questionIds };
}

/** The questions that determine the experts' shares, by the most specific source: prompts, assignments, the source of lengths. */
function askedQuestions(
  {
    promptSetId,
    assignments,
    table,
    ids,
  }: FoundLengths & { readonly promptSetId: string | undefined; readonly assignments: Assignments | null },
  store: Store,
): Outcome<{ readonly questions: readonly RecruitedFor[]; readonly says: string }> {
  if (promptSetId !== undefined) {
    const set = store.prompts.get(promptSetId);
    if (set === null) return { ok: false, message: "There is no such sample of prompts." };
    if (set.deleted) return { ok: false, message: `The texts of "${set.name}" are deleted: nothing tells their categories any more.` };
    const questions = store.prompts.names(promptSetId, 0, set.prompts);
    return { ok: true, questions, says: `Shares of experts are those of the prompts "${set.name}".` };
  }
  if (assignments !== null) {
    const questions = [...assignments.keys()].map((id) => ({ id, category: "" }));
    if (questions.length === 0) return { ok: false, message: "The assignments name no question." };
    return { ok: true, questions, says: "Shares of experts are those of the assignments." };
  }
  const questions = ids.map((id, at) => ({ id, category: table.categories[at] ?? "" }));
  return { ok: true, questions, says: "Which expert is asked how many of the questions is as in the answers that lengths are from." };
}
