import type {
  Outcome,
  WorkloadComparison,
  WorkloadDetail,
  WorkloadName,
  WorkloadSummary,
  WorkloadTies,
  WorkloadUses,
} from "@/server/contracts/studio";
import type { ReplaceArrivals } from "@/server/contracts/studio/arrivals";
import type { ArrivalsGround } from "@/server/planning/arrivals/findArrivals";
import { resolveArrivals } from "@/server/planning/arrivals/resolveArrivals";
import { importArrivals } from "@/server/planning/imports/importArrivals";
import { importOutcomes } from "@/server/planning/imports/importOutcomes";
import { importWorkloadLines } from "@/server/planning/imports/importWorkloadLines";
import { unknownModels } from "@/server/planning/imports/surveyWorkload";
import type { Store } from "@/server/store/store";
import { workloadDetail } from "@/server/workloads/describeWorkload";
import { gatesInThread } from "@/server/workloads/gatesThread";
import { loadWorkload, storeWorkload } from "@/server/workloads/storedWorkloads";
import { workloadHash } from "@/server/workloads/workloadCodec";
import { workloadLines } from "@/server/workloads/workloadLines";
import type { TournamentFigures } from "@/solver/tournament/tournamentFigures";
import { buildWorkload } from "@/solver/workload/buildWorkload";
import { compareWorkloads } from "@/solver/workload/compareWorkloads";
import type { Workload } from "@/solver/workload/workload";
import type { Actor } from "../base/actor";
import type { GatesOfWorkload, WorkloadImport } from "../base/inputs";
import type { ServiceParts } from "../base/serviceParts";

export interface WorkloadServiceParts extends ServiceParts {
  readonly arrivals: ArrivalsGround;
}

/** Fixed, so that the same files give the same workload, and with it the same plans, on every machine. */
const workloadSeed = 1;

/** Workloads: listed, opened, compared, made from uploaded tables, and read and written as lines. */
export function createWorkloadService({ store, uploads, cards, arrivals }: WorkloadServiceParts) {
  const note = store.audit.noting("workload");
  /** The refusal of a workload that is already stored; null if it is not. */
  const sameAs = (workload: Workload) => {
    const same = store.workloads.summary(workloadHash(workload));
    return same === null
      ? null
      : { ok: false as const, message: `The same prompts and arrivals are here already, as "${same.name}" v${same.version}.` };
  };

  return {
    list: (): readonly WorkloadSummary[] => store.workloads.list(),
    /** null: no such workload. */
    get(id: string): { readonly summary: WorkloadSummary; readonly detail: WorkloadDetail } | null {
      const summary = store.workloads.summary(id);
      const workload = loadWorkload(store, id);
      return summary === null || workload === null ? null : { summary, detail: workloadDetail(workload) };
    },
    /** Combines uploaded tables into a workload; refused with file, line and field, and then nothing is stored. */
    async importUploads(
      { outcomesUploadId, arrivalsUploadId, judgeAuc, name, confidence, agreement, ...selection }: WorkloadImport,
      actor: Actor,
    ): Promise<Outcome<{ readonly id: string }>> {
      const outcomesSource = uploads.open(outcomesUploadId);
      const arrivalsSource = arrivalsUploadId === null ? null : uploads.open(arrivalsUploadId);
      if (outcomesSource === null || (arrivalsUploadId !== null && arrivalsSource === null)) {
        return { ok: false, message: "An uploaded file is not kept any more: send it again." };
      }
      const chosen = { ...selection, models: cards.read().catalogue.models };
      const outcomes = await importOutcomes(outcomesSource, chosen, { confidence, agreement });
      if (!outcomes.ok) return outcomes;
      const trace = arrivalsSource === null ? null : await importArrivals(arrivalsSource);
      if (trace !== null && !trace.ok) return trace;
      const workload = buildWorkload({ name, outcomes, arrivals: trace, judgeAuc, seed: workloadSeed });
      const same = sameAs(workload);
      if (same !== null) return same;
      const id = store.atomically(() => {
        note(actor, "import workload", name, workload.origin.outcomes);
        return storeWorkload(store, workload);
      });
      for (const upload of [outcomesUploadId, arrivalsUploadId]) if (upload !== null) uploads.remove(upload);
      return { ok: true, id };
    },
    /** Imports an uploaded workload in the format of `write`; refused with the damaged line, and then nothing is stored. */
    async importLines(uploadId: string, actor: Actor): Promise<Outcome<{ readonly id: string }>> {
      const source = uploads.open(uploadId);
      if (source === null) return { ok: false, message: "The uploaded file is not kept any more: send it again." };
      const read = await importWorkloadLines(source);
      if (!read.ok) return read;
      const unknown = unknownModels(read.workload, cards.read().catalogue.models);
      if (unknown !== null) return { ok: false, message: unknown };
      const same = sameAs(read.workload);
      if (same !== null) return same;
      const id = store.atomically(() => {
        note(actor, "import workload", read.workload.name, read.workload.origin.outcomes);
        return storeWorkload(store, read.workload);
      });
      uploads.remove(uploadId);
      return { ok: true, id };
    },
    /** The same prompts and outcomes with other arrivals: a new version, or one for each segment of the day. */
    async replaceArrivals(request: ReplaceArrivals, actor: Actor): Promise<Outcome<{ readonly ids: readonly string[] }>> {
      const summary = store.workloads.summary(request.workloadId);
      const workload = loadWorkload(store, request.workloadId);
      if (summary === null || workload === null) return { ok: false, message: `There is no workload ${request.workloadId}.` };
      const resolved = await resolveArrivals(request, arrivals);
      if (!resolved.ok) return resolved;
      const made = resolved.parts.map(({ segment, arrivalSeconds, origin, byHour }) => ({
        ...workload,
        name: segment === null ? workload.name : `${workload.name} · ${segment}`,
        arrivalSeconds,
        origin: { ...workload.origin, arrivals: origin, byHour },
      }));
      const same = made.map(sameAs).find((refusal) => refusal !== null);
      if (same !== undefined) return same;
      const ids = store.atomically(() =>
        made.map((each) => {
          note(actor, "give a workload other arrivals", each.name, each.origin.arrivals);
          return storeWorkload(store, each, { parentId: summary.id, profileId: summary.profileId });
        }),
      );
      if (request.arrivals.kind === "upload") uploads.remove(request.arrivals.uploadId);
      return { ok: true, ids };
    },
    /** null: one of them does not exist. */
    compare(a: string, b: string): WorkloadComparison | null {
      const [ofA, ofB] = [store.workloads.summary(a), store.workloads.summary(b)];
      const [inA, inB] = [loadWorkload(store, a), loadWorkload(store, b)];
      if (ofA === null || ofB === null || inA === null || inB === null) return null;
      return { a: ofA, b: ofB, content: compareWorkloads(inA, inB) };
    },
    /** Compares the gates of its stages in a thread, which ends when the signal aborts; null: no such workload. */
    async compareGates(
      { id, share }: GatesOfWorkload,
      signal: AbortSignal,
    ): Promise<Outcome<{ readonly tournament: TournamentFigures }> | null> {
      const data = store.workloads.data(id);
      return data === null ? null : gatesInThread({ data, share }, signal);
    },
    /** null: no such workload. */
    ties: (id: string): WorkloadTies | null => workloadTies(store, id),
    uses: (): WorkloadUses => Object.fromEntries(store.plans.countByWorkload().map(({ workloadId, plans }) => [workloadId, plans])),
    /** A workload as lines of text; null: no such workload. */
    write(id: string): { readonly name: string; readonly lines: Iterable<string> } | null {
      const workload = loadWorkload(store, id);
      return workload === null ? null : { name: workload.name, lines: workloadLines(workload) };
    },
    remove(id: string, actor: Actor): Outcome<object> {
      const summary = store.workloads.summary(id);
      if (summary === null) return { ok: false, message: `There is no workload ${id}.` };
      const running = store.clusters.list().map((cluster) => cluster.runningPlanId);
      const inUse = running.some((planId) => planId !== null && store.plans.get(planId)?.inputs.workload.id === id);
      if (inUse) return { ok: false, message: `"${summary.name}" belongs to a plan in force: put another plan into force first.` };
      store.atomically(() => {
        store.workloads.remove(id);
        note(actor, "remove workload", { subject: summary.name, objectId: id }, id);
      });
      return { ok: true };
    },
  };
}

/** The origin of a workload and its dependents; null: no such workload. */
function workloadTies(store: Store, id: string): WorkloadTies | null {
  const summary = store.workloads.summary(id);
  if (summary === null) return null;
  const measured = summary.profileId === null ? null : store.workloads.measuredBy(summary.profileId);
  const parent = summary.parentId === null ? null : store.workloads.summary(summary.parentId);
  const clusters = new Map(store.clusters.list().map((cluster) => [cluster.id, cluster]));
  return {
    job: measured?.job ?? null,
    promptSet: measured?.promptSet ?? null,
    parent: parent === null ? null : named(parent),
    children: store.workloads.children(id).map(named),
    plans: store.plans.ofWorkload(id).map((plan) => {
      const cluster = clusters.get(plan.clusterId);
      return { ...plan, clusterName: cluster?.spec.name ?? plan.clusterId, inForce: cluster?.runningPlanId === plan.id };
    }),
  };
}

const named = ({ id, name, version }: WorkloadSummary): WorkloadName => ({ id, name, version });
