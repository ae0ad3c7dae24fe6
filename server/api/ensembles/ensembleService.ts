import type { GatewayActsOptions } from "@/server/api/gateway/gatewayActs";
import type { EnsemblePlacement, GateReport, KeptEnsemble, Outcome } from "@/server/contracts/studio";
import type { KeepEnsemble, MeasuredSessions, PlaceRequest, ReplayRequest, SessionsOfEngine } from "@/server/contracts/studio/ensembles";
import { placeTask } from "@/server/planning/ensembles/placeTask";
import { inPlaceThread } from "@/server/planning/ensembles/placeThread";
import { inReplayThread } from "@/server/planning/ensembles/replayThread";
import { importSessions } from "@/server/planning/imports/importSessions";
import type { Ensemble } from "@/solver/ensemble/gate/ensembleDocument";
import { formatTau } from "@/solver/ensemble/gate/tauText";
import { extractionProblem } from "@/solver/ensemble/gate/voteReader";
import { canonicalJson, type Json } from "@/solver/plan/canonical";
import { counted } from "@/solver/wording/wording";
import type { Actor } from "../base/actor";
import type { ServiceParts } from "../base/serviceParts";
import { createEnsembleGateway } from "./ensembleGateway";
import { createEnsembleSamples } from "./ensembleSamples";
import { keepSessions } from "./keepSessions";

export interface EnsembleServiceParts extends ServiceParts {
  readonly gatewayOf: GatewayActsOptions["gatewayOf"];
}

/**
 * Saved ensembles, the labelled answers on which their gates are chosen, the placement of their experts, and the ensembles that gateways
 * serve.
 */
export function createEnsembleService({ store, uploads, cards, gatewayOf }: EnsembleServiceParts) {
  const samples = createEnsembleSamples({ store, uploads });
  const note = store.audit.noting("ensemble");

  return {
    ...samples,
    ...createEnsembleSessions({ store, uploads, cards }),
    ...createEnsembleGateway({ store, gatewayOf }),
    /** By name. */
    list: (): readonly KeptEnsemble[] => store.ensembles.list(),
    /** Saves it as the next version of its name, refused if the newest is not the expected one; `again`: the newest is identical. */
    keep(
      { ensemble, expects }: KeepEnsemble,
      actor: Actor,
    ): Outcome<{ readonly name: string; readonly version: number; readonly again: boolean }> {
      const problem = extractionProblem(ensemble.extraction);
      if (problem !== null) return { ok: false, message: problem };
      return store.atomically((): Outcome<{ readonly name: string; readonly version: number; readonly again: boolean }> => {
        const { name } = ensemble;
        const latest = store.ensembles.find(name);
        if (latest !== null && isSame(latest.ensemble, ensemble)) return { ok: true, name, version: latest.version, again: true };
        const refused = notExpected(name, expects, latest);
        if (refused !== null) return { ok: false, message: refused };
        const version = store.ensembles.put({ ensemble, actor, createdAt: new Date().toISOString() });
        note(
          actor,
          "keep ensemble",
          name,
          `version ${version}, tau ${formatTau(ensemble.tau, ensemble.expertsPerQuestion)}, ${ensemble.experts.length} experts`,
        );
        return { ok: true, name, version, again: false };
      });
    },
    /** Batches and gateways have copies of their own, and continue with them. */
    remove: (name: string, actor: Actor): Outcome<object> =>
      store.atomically((): Outcome<object> => {
        if (!store.ensembles.remove(name, { actor, createdAt: new Date().toISOString() }))
          return { ok: false, message: `There is no ensemble ${name}.` };
        note(actor, "remove ensemble", name, "");
        return { ok: true };
      }),
    /** Replays a gate on a sample, tau by tau, in its own thread; it ends when the signal aborts. */
    async replay({ sampleId, ...request }: ReplayRequest, signal: AbortSignal): Promise<Outcome<{ readonly report: GateReport }>> {
      const kept = store.answerSamples.stored(sampleId);
      if (kept === null) return { ok: false, message: "There is no such sample of answers." };
      const replayed = await inReplayThread({ data: kept.data, request }, signal);
      if (!replayed.ok) return replayed;
      const { report } = replayed;
      return { ok: true, report: { ...report, notes: [...report.notes, ...originNotes[kept.summary.origin]] } };
    },
    /** Places experts in its own thread; it ends when the signal aborts. */
    async place(request: PlaceRequest, signal: AbortSignal): Promise<Outcome<{ readonly placement: EnsemblePlacement }>> {
      const task = await placeTask(request, { store, uploads, cards: cards.read().catalogue, signal });
      if (!task.ok) return task;
      const placed = await inPlaceThread(task.task, signal);
      if (!placed.ok) return placed;
      const { placement } = placed;
      return { ok: true, placement: { ...placement, notes: [...placement.notes, ...task.notes] } };
    },
  };
}

/** Why an ensemble does not replace the newest of its name; null: it was derived from that one. */
function notExpected(name: string, expects: number | null, latest: KeptEnsemble | null): string | null {
  if (expects === (latest?.version ?? null)) return null;
  if (latest === null) return `There is no ensemble ${name} any more, so this cannot be its next version. Keep it as a new one.`;
  if (expects === null)
    return `There is an ensemble ${name} already, as version ${latest.version}. Choose another name, or change that one.`;
  return `${name} is version ${latest.version} by now, kept by ${latest.actor}, and this is a change of version ${expects}. Look at the newest before you change it.`;
}

const isSame = (a: Ensemble, b: Ensemble): boolean => canonicalJson(a as unknown as Json) === canonicalJson(b as unknown as Json);

const originNotes = {
  uploaded: [],
  batch: [],
  modelled: ["The sample is modelled: who is right is a workload's labels, and which wrong answers agree is drawn."],
  emulated: ["The sample is of emulated engines: how often real models agree, it does not tell."],
} as const;

/** Measured sessions: imported from uploads as the command line imports files, listed by model, and removed by model and kind of engine. */
function createEnsembleSessions({ store, uploads, cards }: ServiceParts) {
  return {
    /** The measured sessions, by model. */
    sessions: (): readonly MeasuredSessions[] => store.sessionRows.groups(),
    /** Stores an uploaded table of measured sessions, to which placements are fitted from then on. */
    async keepSessions(uploadId: string, actor: Actor): Promise<Outcome<{ readonly rows: number }>> {
      const file = uploads.open(uploadId);
      if (file === null) return { ok: false, message: "The uploaded file is not kept any more: send it again." };
      const read = await importSessions(file, cards.read().catalogue);
      if (!read.ok) return read;
      keepSessions(store, read.rows, { actor, from: file.name });
      uploads.remove(uploadId);
      return { ok: true, rows: read.rows.length };
    },
    removeSessions: (of: SessionsOfEngine, actor: Actor): Outcome<object> =>
      store.atomically((): Outcome<object> => {
        const rows = store.sessionRows.remove(of);
        if (rows === 0) return { ok: false, message: "There are no such sessions." };
        const detail = `${counted(rows, "row")} of engines on ${of.gpus} x ${of.gpu}`;
        store.audit.noting("ensemble")(actor, "remove measured sessions", of.model, detail);
        return { ok: true };
      }),
  };
}
