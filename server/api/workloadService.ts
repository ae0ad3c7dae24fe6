import type { CardShelf } from "@/server/cards/cardShelf";
import type { WorkloadLineage } from "@/server/contracts/studio";
import { describeWorkload, workloadDetail } from "@/server/planning/describeWorkload";
import { importArrivals } from "@/server/planning/importArrivals";
import { importOutcomes } from "@/server/planning/importOutcomes";
import { decodeWorkload, encodeWorkload, workloadHash } from "@/server/planning/workloadCodec";
import type { Store } from "@/server/store/store";
import { buildWorkload } from "@/solver/workload/buildWorkload";
import type { Workload } from "@/solver/workload/workload";
import type { WorkloadService } from "./services";
import type { Uploads } from "./uploads";

/** Fixed, so that the same files give the same workload, and with it the same plans, wherever they are imported. */
const workloadSeed = 1;

/**
 * Puts a workload into the store under the hash of its content, so that a plan names exactly what it was made from.
 * Returns its id; one that is there already is left as it is.
 */
export function storeWorkload(
  store: Store,
  workload: Workload,
  { parentId = null, profileId = null }: Partial<WorkloadLineage> = {},
): string {
  const id = workloadHash(workload);
  if (store.workloads.summary(id) === null) {
    const lineage = { parentId, profileId };
    store.workloads.insert(
      { id, createdAt: new Date().toISOString(), ...describeWorkload(workload), ...lineage },
      encodeWorkload(workload),
    );
  }
  return id;
}

/** The whole workload of an id; null when there is none. */
export function loadWorkload(store: Store, id: string): Workload | null {
  const data = store.workloads.data(id);
  return data === null ? null : decodeWorkload(data);
}

/** Workloads: listed, opened, joined from uploaded tables. */
export function createWorkloadService(store: Store, uploads: Uploads, cards: CardShelf): WorkloadService {
  const note = (actor: string, action: string, subject: string, detail: string) =>
    store.audit.add({ at: new Date().toISOString(), actor, action, subject, detail });

  return {
    list: () => store.workloads.list(),
    get(id) {
      const summary = store.workloads.summary(id);
      const workload = loadWorkload(store, id);
      return summary === null || workload === null ? null : { summary, detail: workloadDetail(workload) };
    },
    async importUploads({ outcomesUploadId, arrivalsUploadId, judgeAuc, name, ...selection }, actor) {
      const outcomesSource = uploads.open(outcomesUploadId);
      const arrivalsSource = arrivalsUploadId === null ? null : uploads.open(arrivalsUploadId);
      if (outcomesSource === null || (arrivalsUploadId !== null && arrivalsSource === null)) {
        return { ok: false, message: "An uploaded file is not kept any more: send it again." };
      }
      const outcomes = await importOutcomes(outcomesSource, { ...selection, models: cards.read().catalogue.models });
      if (!outcomes.ok) return outcomes;
      const arrivals = arrivalsSource === null ? null : await importArrivals(arrivalsSource);
      if (arrivals !== null && !arrivals.ok) return arrivals;
      const workload = buildWorkload({ name, outcomes, arrivals, judgeAuc, seed: workloadSeed });
      const same = store.workloads.summary(workloadHash(workload));
      if (same !== null) return { ok: false, message: `The same prompts and arrivals are here already, as "${same.name}".` };
      const id = store.atomically(() => {
        note(actor, "import workload", name, workload.origin.outcomes);
        return storeWorkload(store, workload);
      });
      for (const upload of [outcomesUploadId, arrivalsUploadId]) if (upload !== null) uploads.remove(upload);
      return { ok: true, id };
    },
    remove(id, actor) {
      const summary = store.workloads.summary(id);
      if (summary === null) return { ok: false, message: `There is no workload ${id}.` };
      const running = store.clusters.list().map((cluster) => cluster.runningPlanId);
      const inUse = running.some((planId) => planId !== null && store.plans.get(planId)?.inputs.workload.id === id);
      if (inUse) return { ok: false, message: `"${summary.name}" belongs to a plan in force: put another plan into force first.` };
      store.atomically(() => {
        store.workloads.remove(id);
        note(actor, "remove workload", summary.name, id);
      });
      return { ok: true };
    },
  };
}
