import { setImmediate as nextTurn } from "node:timers/promises";
import { profileForCluster } from "@/server/calibration/profileInUse";
import type { Observation } from "@/server/clusters/connector/connector";
import type { Outcome, PromptSet } from "@/server/contracts/studio";
import type { BatchRequest } from "@/server/contracts/studio/batches";
import { ownLimits } from "@/server/planning/ensembles/ownLimits";
import type { PlaceTask } from "@/server/planning/ensembles/placeEnsemble";
import { assignmentsOf, type PlaceGround, withoutCard } from "@/server/planning/ensembles/placeTask";
import { inPlaceThread } from "@/server/planning/ensembles/placeThread";
import { promptsByExpert, recruitment } from "@/server/planning/ensembles/recruitment";
import type { AggregatorOrder, ExpertsOrder } from "@/server/store/documents/batchOrder";
import type { Store } from "@/server/store/store";
import type { Ensemble } from "@/solver/ensemble/gate/ensembleDocument";
import { optimalityText } from "@/solver/ensemble/placement/optimality";
import type { Placement } from "@/solver/plan/clusterSpec";
import { batchLengths } from "./batchLengths";
import { dealPrompts } from "./dealPrompts";
import { emulatedWorkload } from "./emulatedWorkload";
import { expectedShare } from "./fittingSamples";
import { type FreeWorkers, gpusByNode } from "./freeWorkers";

/** The input of a batch's preparation. */
export interface OrderGround extends PlaceGround {
  /** Its hardware: free GPUs of its cluster as observed now, or the required GPUs of an external one. */
  readonly hardware: FreeWorkers;
  /** State of the observed cluster; null: it was not observed. */
  readonly observed: Pick<Observation, "outcomes" | "deviates"> | null;
  readonly emulated: boolean;
}

export interface PreparedOrder {
  readonly order: ExpertsOrder;
  /** null: it does not fit on the workers. */
  readonly aggregator: AggregatorOrder | null;
}

/** Prompts whose names are read at once. */
const NAMES_PAGE = 1000;

/** Assumed location of weights without a measured load: a disk of the node, the most common one. */
const usualStorage = "local-nvme";

/**
 * Determines a batch's work: who answers which prompts, on which GPUs, in which sessions. Nothing is started. If the aggregator does not
 * fit on the workers, the batch can be exported as a job file, which runs the experts only, but not run here.
 *
 * @returns a sentence if something is missing or does not fit.
 * @throws the signal's reason if it aborts.
 */
export async function prepareOrder(request: BatchRequest, ground: OrderGround): Promise<Outcome<PreparedOrder>> {
  const { store, cards, hardware, emulated, signal } = ground;
  const asked = askedOf(request, store);
  if (!asked.ok) return asked;
  const { ensemble, set } = asked;
  const unknown = withoutCard(ensemble, cards);
  if (unknown !== null) return { ok: false, message: unknown };
  const assigned = await assignmentsOf(request.assignmentsUploadId, ground.uploads);
  if (!assigned.ok) return assigned;
  const prompts = await namesOf(set, store.prompts);
  const recruited = recruitment(ensemble, prompts, assigned.assignments);
  if (!recruited.ok) return recruited;
  const samples = { ensemble, emulated, signal };
  const lengths = await batchLengths({ ...samples, clusterId: request.clusterId, replayed: replayedBy(ensemble, ground) }, store);
  if (!lengths.ok) return lengths;
  const { workers, gpu } = hardware;
  const task: PlaceTask = {
    ...{ ensemble, gpu, storage: usualStorage, workers: workers.length, gpusPerWorker: request.gpusPerWorker, ...lengths.lengths },
    gpusByNode: [...gpusByNode(workers).values()].map((gpus) => gpus.length),
    maxModelsPerWorker: request.maxModelsPerWorker,
    replicas: request.replicas,
    questions: prompts.length,
    prompts: promptsByExpert(ensemble.experts, recruited.experts),
    ownLimits: ownLimits(set, store.prompts),
    sessionRows: store.sessionRows.list(gpu, [...ensemble.experts, ensemble.aggregator.model]),
    engineProfile: profileForCluster(store, request.clusterId),
    cards,
    concurrency: request.concurrency,
  };
  const made = await inPlaceThread(task, signal);
  if (!made.ok) return made;
  const { placement } = made;
  // If a file assigns questions, the ensemble does not determine who is asked.
  const expecting = assigned.assignments === null ? await expectedShare(samples, store) : ({ ok: true, expected: null } as const);
  if (!expecting.ok) return expecting;
  const positions = new Map<string, number[]>(ensemble.experts.map((expert) => [expert, []]));
  for (const [at, experts] of recruited.experts.entries())
    for (const expert of experts) positions.get(expert)?.push(prompts[at]?.position ?? at);
  return {
    ok: true,
    order: {
      ...{ request, ensemble, gpu, workers, emulated, questions: prompts.length },
      sessions: dealPrompts(placement.schedules[0]?.workers ?? [], positions),
      schedules: placement.schedules,
      notes: [
        ...emulatedNotes(ground),
        ...hardware.notes,
        `The placement of experts is ${optimalityText(placement.solved)}.`,
        ...placement.notes,
      ],
    },
    aggregator: placement.aggregator && {
      aggregators: aggregatorPlaces(workers, placement.aggregator.tp),
      aggregatorPredicted: {
        loadSeconds: placement.aggregator.loadSeconds,
        points: placement.aggregator.points,
        expected: expecting.expected,
      },
    },
  };
}

/** The sentence that the aggregator does not fit on the workers of a batch. */
export function noRoomForAggregator({ ensemble, workers, gpu }: ExpertsOrder): string {
  const most = `the ${mostOnOneNode(workers)} ${gpu} that the workers have on one node`;
  const why = `The aggregator ${ensemble.aggregator.model} does not fit ${most}, or has no room there for a question with its answers`;
  return `${why}: give the batch more of them, or take a smaller aggregator.`;
}

/** Workload whose answers the cluster's emulated engines replay, now or later; null: they are real. */
function replayedBy({ experts, aggregator }: Ensemble, { emulated, observed, store }: OrderGround): string | null {
  return emulated ? (observed?.outcomes ?? emulatedWorkload(store, [...experts, aggregator.model])) : null;
}

function askedOf(request: BatchRequest, store: Store): Outcome<{ readonly ensemble: Ensemble; readonly set: PromptSet }> {
  const kept = store.ensembles.find(request.ensemble);
  if (kept === null) return { ok: false, message: `There is no ensemble ${request.ensemble}.` };
  const set = store.prompts.get(request.promptSetId);
  if (set === null) return { ok: false, message: "There is no such sample of prompts." };
  if (set.deleted) return { ok: false, message: `The texts of "${set.name}" are deleted: sample its prompts again.` };
  return { ok: true, ensemble: kept.ensemble, set };
}

/** Ids and categories of all prompts, read between turns of the event loop: there may be many thousands. */
async function namesOf({ id, prompts: count }: PromptSet, prompts: Store["prompts"]): Promise<ReturnType<Store["prompts"]["names"]>> {
  const names = [];
  for (let from = 0; from < count; from += NAMES_PAGE) {
    names.push(...prompts.names(id, from, from + NAMES_PAGE));
    await nextTurn();
  }
  return names;
}

const mostOnOneNode = (workers: readonly Placement[]): number =>
  Math.max(0, ...[...gpusByNode(workers).values()].map((gpus) => gpus.length));

/** As many engines of the aggregator as fit on the workers' GPUs, none across nodes. */
function aggregatorPlaces(workers: readonly Placement[], tp: number): readonly Placement[] {
  return [...gpusByNode(workers)].flatMap(([node, gpus]) =>
    Array.from({ length: Math.floor(gpus.length / tp) }, (_, at) => ({ node, gpus: gpus.slice(at * tp, (at + 1) * tp) })),
  );
}

function emulatedNotes({ emulated, observed }: OrderGround): readonly string[] {
  if (!emulated) return [];
  const as = observed?.deviates === true ? "times deviate from the planner's model" : "times follow the planner's model to the letter";
  return [`The cluster is emulated: ${as}, and answers say nothing of real models.`];
}
