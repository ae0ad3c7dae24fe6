import type { Outcome } from "@/server/contracts/studio";
import {
  type EnsembleLengths,
  ensembleLengths,
  type LengthTable,
  sampleLengths,
  workloadLengths,
} from "@/server/planning/ensembles/ensembleLengths";
import type { Store } from "@/server/store/store";
import { loadWorkload } from "@/server/workloads/storedWorkloads";
import { fittingSamples, type SamplesAsked } from "./fittingSamples";

export interface LengthsAsked extends SamplesAsked {
  readonly clusterId: string;
  /** Workload whose answers emulated engines replay; null: the engines are real, or have none. */
  readonly replayed: string | null;
}

/** Most workloads that are searched, newest first. */
const mostLooked = 50;

/**
 * Lengths of the answers of an ensemble's models, from the first table that has all experts: the workload that emulated engines replay;
 * samples of answers that fit; the workload of the plan in force; any other workload, newest first.
 *
 * @returns a sentence if there is no such table, or a sample cannot be read now.
 */
export async function batchLengths(asked: LengthsAsked, store: Store): Promise<Outcome<{ readonly lengths: EnsembleLengths }>> {
  for await (const read of tables(asked, store)) {
    if (!read.ok) return read;
    const lengths = ensembleLengths(asked.ensemble, read.table);
    if (typeof lengths !== "string") return { ok: true, lengths };
  }
  const { experts } = asked.ensemble;
  const way = "import a sample of answers or a workload that has all of them";
  return { ok: false, message: `Nothing tells how long answers of ${experts.join(", ")} are: ${way}.` };
}

type ReadTable = Outcome<{ readonly table: LengthTable }>;

async function* tables(asked: LengthsAsked, store: Store): AsyncGenerator<ReadTable> {
  const { ensemble, clusterId, replayed } = asked;
  if (replayed !== null) yield* workload(replayed, store);
  for await (const read of fittingSamples(asked, store)) yield read.ok ? { ok: true, table: sampleLengths(read.name, read.sample) } : read;
  const planId = store.clusters.get(clusterId)?.runningPlanId ?? null;
  const inForce = planId === null ? null : (store.plans.get(planId)?.inputs.workload.id ?? null);
  if (inForce !== null) yield* workload(inForce, store);
  const others = store.workloads
    .list()
    .filter(({ models }) => ensemble.experts.every((expert) => models.some(({ model }) => model === expert)));
  for (const { id } of others.slice(0, mostLooked)) yield* workload(id, store);
}

function* workload(id: string, store: Store): Generator<ReadTable> {
  const found = loadWorkload(store, id);
  if (found !== null) yield { ok: true, table: workloadLengths(found) };
}
