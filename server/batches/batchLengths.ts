import { loadWorkload } from "@/server/api/workloadService";
import type { Outcome } from "@/server/contracts/studio";
import { type EnsembleLengths, ensembleLengths, type LengthTable, sampleLengths, workloadLengths } from "@/server/planning/ensembleLengths";
import type { Store } from "@/server/store/store";
import type { Ensemble } from "@/solver/ensemble/ensembleDocument";

export interface LengthsAsked {
  readonly ensemble: Ensemble;
  readonly clusterId: string;
  /** Workload whose answers emulated engines replay; null: they are real, or have none. */
  readonly replayed: string | null;
}

/** Tables that are looked at, of each kind: newest first. */
const mostLooked = 50;

/**
 * How long answers of an ensemble's models are, by the first table that has all experts: what emulated engines replay; samples of answers,
 * newest first, unless they are modelled; the workload of the plan in force; any other workload, newest first.
 */
export function batchLengths(asked: LengthsAsked, store: Store): Outcome<{ readonly lengths: EnsembleLengths }> {
  for (const table of tables(asked, store)) {
    const lengths = ensembleLengths(asked.ensemble, table);
    if (typeof lengths !== "string") return { ok: true, lengths };
  }
  const { experts } = asked.ensemble;
  const way = "import a sample of answers or a workload that has all of them";
  return { ok: false, message: `Nothing tells how long answers of ${experts.join(", ")} are: ${way}.` };
}

function* tables({ ensemble, clusterId, replayed }: LengthsAsked, store: Store): Generator<LengthTable> {
  if (replayed !== null) yield* workload(replayed, store);
  const has = (models: readonly string[]): boolean => ensemble.experts.every((expert) => models.includes(expert));
  const samples = store.answerSamples.list().filter(({ origin, models }) => origin !== "modelled" && has(models.map(({ model }) => model)));
  for (const { id, name } of samples.slice(0, mostLooked)) {
    const kept = store.answerSamples.get(id);
    if (kept !== null) yield sampleLengths(name, kept.sample);
  }
  const planId = store.clusters.get(clusterId)?.runningPlanId ?? null;
  const inForce = planId === null ? null : (store.plans.get(planId)?.inputs.workload.id ?? null);
  if (inForce !== null) yield* workload(inForce, store);
  const others = store.workloads.list().filter(({ models }) => has(models.map(({ model }) => model)));
  for (const { id } of others.slice(0, mostLooked)) yield* workload(id, store);
}

function* workload(id: string, store: Store): Generator<LengthTable> {
  const found = loadWorkload(store, id);
  if (found !== null) yield workloadLengths(found);
}
