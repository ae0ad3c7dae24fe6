import { profileInUse, profileOf } from "@/server/calibration/profileInUse";
import type {
  Artefact,
  LabReplicas,
  LabRun,
  LabRunSummary,
  LabSpec,
  LabStage,
  LabSuggestion,
  LabSuggestionRequest,
  LabWorkflow,
  Outcome,
} from "@/server/contracts/studio";
import type { LabHardware } from "@/server/lab/labEngines";
import { labNotes, predictorNotes } from "@/server/lab/labNotes";
import { labRefusal } from "@/server/lab/labRefusal";
import { labRunId } from "@/server/lab/labRunId";
import { createLabRuns } from "@/server/lab/labRuns";
import { inLabThread } from "@/server/lab/labThread";
import { refuseField } from "@/server/lib/fieldFault";
import { promptSetOf } from "@/server/prediction/textsOf";
import type { StoredLabSummary } from "@/server/store/labRepository";
import { loadWorkload } from "@/server/workloads/storedWorkloads";
import { cardOf } from "@/solver/hardware/catalogue";
import type { Plan } from "@/solver/plan/plan";
import { decodeArtefact } from "@/solver/prediction/artefact";
import { workflows } from "@/solver/workflow/templates";
import type { Workload } from "@/solver/workload/workload";
import type { Actor } from "../base/actor";
import type { ServiceParts } from "../base/serviceParts";

/** Default if no GPU is known. */
const COMMON_GPU = "h100-sxm";

const WORKLOAD_GONE = "The workload is not kept here any more: the run can be looked at, not made again.";

/** A trained predictor that a description names. */
interface KeptArtefact {
  readonly artefact: Artefact;
  readonly bytes: Uint8Array;
  readonly decoded: ReturnType<typeof decodeArtefact>;
}

const stageOf = ({ role, part, reads, lengthRatio }: LabStage): LabStage => ({ role, part, reads, lengthRatio });

/** Compares policies on programs of the store's workloads. */
export function createLabService({ store, cards }: Pick<ServiceParts, "store" | "cards">) {
  const runs = createLabRuns(store);
  const closing = new AbortController();
  const nameOf = (workloadId: string) => store.workloads.summary(workloadId)?.name ?? workloadId;
  const missing = (id: string) => ({ ok: false as const, message: `There is no run ${id}.` });
  const note = (actor: string, action: string, spec: LabSpec, id: string) =>
    store.audit.add({
      at: new Date().toISOString(),
      actor,
      action,
      subject: nameOf(spec.workloadId),
      detail: id,
      objectKind: "lab run",
      objectId: id,
    });

  const cellsOf = ({ systems, rates, seeds }: LabSpec): number => systems.length * rates.length * seeds.length;
  const summaryOf = ({ spec, notes: _, ...run }: StoredLabSummary): LabRunSummary => ({
    ...run,
    workloadName: nameOf(spec.workloadId),
    doing: runs.doing(run.id),
    cellsAll: cellsOf(spec),
    ...{ rates: spec.rates, programs: spec.programs, seeds: spec.seeds, correlation: spec.correlation },
    systems: [...new Set(spec.systems.map(({ name }) => name))],
    systemsAll: spec.systems.length,
  });

  /** The cards and the profile of a description. */
  function hardwareOf({ engineProfile }: Pick<LabSpec, "engineProfile">): Outcome<{ readonly hardware: LabHardware }> {
    const { catalogue } = cards.read();
    const profile = profileOf(store, engineProfile ?? "vllm");
    return profile === null
      ? refuseField({ path: "engineProfile", reason: `no profile "${engineProfile}" is kept here.` })
      : { ok: true, hardware: { catalogue, profile } };
  }

  function readArtefact(hash: string): KeptArtefact | null {
    const kept = store.artefacts.get(hash);
    return kept === null ? null : { ...kept, decoded: decodeArtefact(kept.bytes) };
  }

  return {
    workflows: (): readonly LabWorkflow[] =>
      workflows.map(({ name, title, source, stages, otherShapes = [] }) => ({
        ...{ name, title, source },
        stages: stages.map(stageOf),
        otherShapes: otherShapes.map((shape) => ({ share: shape.share, stages: shape.stages.map(stageOf) })),
      })),
    async suggest({ workloadId, planId, given }: LabSuggestionRequest): Promise<Outcome<{ readonly suggestion: LabSuggestion }>> {
      const workload = loadWorkload(store, workloadId);
      if (workload === null) return refuseField({ path: "workloadId", reason: `there is no workload ${workloadId}.` });
      const plan = planId === undefined ? null : store.plans.get(planId);
      if (planId !== undefined && plan === null) return refuseField({ path: "planId", reason: `there is no plan ${planId}.` });
      const replicas = plan === null ? null : enginesOf(plan, workload);
      if (replicas?.length === 0) return { ok: false, message: `The workload has no answers of any model of ${plan?.metadata.name}.` };
      const { catalogue } = cards.read();
      const cluster = plan?.inputs.cluster ?? store.clusters.list()[0]?.spec;
      const gpu = cluster?.gpu ?? COMMON_GPU;
      const usdPerGpuHour = cluster?.usdPerGpuHour ?? cardOf(catalogue.gpus, gpu)?.usdPerGpuHour ?? 0;
      const profile = profileInUse(store);
      const of = { workloadId, workload, replicas, gpu, usdPerGpuHour, catalogue, profile, ...(given === undefined ? {} : { given }) };
      // Saturation is simulated, which takes some hundred milliseconds.
      return inLabThread({ kind: "suggestion", of }, closing.signal);
    },
    /** Starts it, or finds the run of the same description that is running or finished. Refused with the field and the reason. */
    async start(spec: LabSpec, actor: Actor): Promise<Outcome<{ readonly id: string }>> {
      const workload = loadWorkload(store, spec.workloadId);
      if (workload === null) return refuseField({ path: "workloadId", reason: `there is no workload ${spec.workloadId}.` });
      const found = hardwareOf(spec);
      if (!found.ok) return found;
      const named = new Map<string, KeptArtefact>();
      const artefactOf = (hash: string) => {
        const known = named.get(hash) ?? readArtefact(hash);
        if (known !== null) named.set(hash, known);
        return known?.decoded ?? null;
      };
      const refused = labRefusal(spec, { workload, artefactOf, ...found.hardware });
      if (refused !== null) return refuseField(refused);
      const set = promptSetOf(store, spec.workloadId);
      const texts = set === null ? null : ({ kind: "store", file: store.file } as const);
      const artefacts = Object.fromEntries([...named].map(([hash, { bytes }]) => [hash, bytes]));
      const predictors = [...named.values()].map(({ artefact }) => artefact);
      const notes = [
        ...labNotes({ spec, workload, texts: texts !== null, ...found.hardware }),
        ...predictorNotes(predictors, spec.workloadId),
      ];
      const task = { spec, workload, userCards: cards.read().userCards, engineProfile: found.hardware.profile, artefacts, texts };
      const id = labRunId(task, set?.id ?? null);
      const begun = runs.start(id, task, { actor, notes });
      if (!begun.ok) return begun;
      if (begun.started) note(actor, "start lab run", spec, id);
      return { ok: true, id };
    },
    /** Newest first. */
    list: (): readonly LabRunSummary[] => store.labRuns.list().map(summaryOf),
    /** Without the first `since` of its cells, in the order of their completion. */
    get(id: string, since = 0): LabRun | null {
      const found = store.labRuns.get(id);
      if (found === null) return null;
      const { cellsDone: _, ...run } = found;
      const { workloadId } = run.spec;
      return {
        ...run,
        cells: store.labRuns.cells(id, since),
        workloadName: nameOf(workloadId),
        doing: runs.doing(id),
        cellsAll: cellsOf(run.spec),
        notes: store.workloads.summary(workloadId) === null ? [...run.notes, WORKLOAD_GONE] : run.notes,
      };
    },
    cancel(id: string, actor: Actor): Outcome<object> {
      const run = store.labRuns.get(id);
      if (run === null) return missing(id);
      const cancelled = runs.cancel(id);
      if (cancelled.ok) note(actor, "cancel lab run", run.spec, id);
      return cancelled;
    },
    /** Deletes a run that is not running. */
    remove(id: string, actor: Actor): Outcome<object> {
      const run = store.labRuns.get(id);
      if (run === null) return missing(id);
      if (run.state === "running") return { ok: false, message: "This run is under way: cancel it first." };
      store.atomically(() => {
        store.labRuns.remove(id);
        note(actor, "remove lab run", run.spec, id);
      });
      return { ok: true };
    },
    close() {
      closing.abort(new Error("The studio is closing."));
      runs.close();
    },
  };
}

/** A plan's engines for models of the workload; a judge's engines serve none of its programs. */
function enginesOf({ deployment }: Plan, { outcomes }: Workload): readonly LabReplicas[] {
  return deployment
    .filter(({ model }) => outcomes.models.some((own) => own.model === model))
    .flatMap(({ model, precision, gpu, replicas }) =>
      replicas.map((group) => ({ model, precision, gpu: group.gpu ?? gpu, tp: group.tp, pp: group.pp, count: group.count })),
    );
}
