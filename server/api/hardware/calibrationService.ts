import { randomUUID } from "node:crypto";
import { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { calibrate } from "@/server/calibration/calibrate";
import type { CalibrationSource } from "@/server/calibration/calibrationSource";
import { liveServingRows } from "@/server/calibration/liveServingRows";
import { profileInUse, profileOf } from "@/server/calibration/profileInUse";
import type { CheckEvent, LiveRows, LiveSpan, Outcome, ProfileList } from "@/server/contracts/studio";
import { embeddedClusterId } from "@/server/fleet/fleet";
import { importServingRows, type MeasuredRows } from "@/server/planning/imports/importServingRows";
import { liveTable } from "@/solver/calibration/liveRows";
import { engineProfiles } from "@/solver/hardware/builtInProfiles";
import {
  type EngineKind,
  type EngineProfile,
  engineNames,
  engineTitle,
  isMeasured,
  profilesBySoftware,
} from "@/solver/hardware/engineProfile";
import type { Actor } from "../base/actor";
import type { CheckRequest, FitRequest, LiveTableRequest } from "../base/inputs";
import type { ServiceParts } from "../base/serviceParts";
import { createCalibrationFits } from "./calibrationFits";

/** A table made from a cluster's telemetry. */
interface LiveTable {
  /** null: it would have no rows. */
  readonly uploadId: string | null;
  readonly live: LiveRows;
}

/** Complete checks in memory, so that a reloaded page or a profile selected again shows at once; each has some MB at most. */
const KEPT_CHECKS = 4;

/** Most tables from clusters whose origin is remembered. */
const KEPT_TABLES = 16;

const HOUR_MS = 3_600_000;
const spans: Readonly<Record<LiveSpan, { readonly lengthMs: number; readonly words: string }>> = {
  hour: { lengthMs: HOUR_MS, words: "hour" },
  day: { lengthMs: 24 * HOUR_MS, words: "day" },
  week: { lengthMs: 7 * 24 * HOUR_MS, words: "week" },
};

export interface CalibrationParts extends ServiceParts {
  readonly sourceOf: CalibrationSource;
}

export type CalibrationService = ReturnType<typeof createCalibrationService>;

/** Engine profiles over the store; predictions and fits run in their own thread. */
export function createCalibrationService({ store, uploads, cards, sourceOf }: CalibrationParts) {
  const fits = createCalibrationFits();
  const checked = new Map<string, readonly CheckEvent[]>();
  const taken = new Map<string, LiveRows>();
  const note = store.audit.noting("calibration");

  async function rowsOf(uploadId: string): Promise<Outcome<MeasuredRows>> {
    const source = uploads.open(uploadId);
    if (source === null) return { ok: false, message: "The uploaded file is not kept any more: send it again." };
    return importServingRows(source, cards.read().catalogue);
  }

  async function* freshCheck({ uploadId, profileId }: CheckRequest, signal: AbortSignal): AsyncGenerator<CheckEvent> {
    const profile = profileOf(store, profileId);
    if (profile === null) return yield { kind: "refused", message: "This profile is not kept any more: choose another." };
    const read = await rowsOf(uploadId);
    if (!read.ok) return yield { kind: "refused", message: read.message };
    const { name, rows, unsupported, bad } = read;
    yield { kind: "table", name, rows: rows.length, unsupported, bad };
    const profiles: Readonly<Record<EngineKind, EngineProfile>> = { ...engineProfiles, ...profilesBySoftware(profile) };
    const { userCards } = cards.read();
    for await (const reply of calibrate({ kind: "check", rows, profiles, userCards }, signal)) {
      if (reply.kind === "predicted" || reply.kind === "checked") yield reply;
    }
  }

  function insert(profile: EngineProfile, actor: string, action: string): Outcome<{ readonly id: string }> {
    const sameName = [...Object.values(engineProfiles), ...store.calibrations.list().map((kept) => kept.profile)];
    if (sameName.some(({ name }) => name === profile.name))
      return { ok: false, message: `There is a profile "${profile.name}" already: give another name.` };
    store.atomically(() => {
      store.calibrations.insert({ profile, createdAt: new Date().toISOString(), actor });
      note(
        actor,
        action,
        { subject: profile.name, objectId: profile.id },
        `${engineTitle(profile.engine)}, fitted on ${profile.fittedOn?.rows ?? 0} runs`,
      );
    });
    return { ok: true, id: profile.id };
  }

  return {
    list: (): ProfileList => ({ builtIn: Object.values(engineProfiles), own: store.calibrations.list(), inUse: profileInUse(store).id }),
    /** Makes a table of runs, in the form of an upload, from a cluster's recent engine telemetry. */
    async calibrateFromLive({ clusterId, span }: LiveTableRequest): Promise<Outcome<LiveTable>> {
      const source = await sourceOf(clusterId);
      if (!source.ok) return source;
      const { lengthMs, words } = spans[span];
      const toMs = Date.now();
      const { rows, report } = await liveServingRows(source.cluster, { fromMs: toMs - lengthMs, toMs }, cards.read().catalogue);
      if (rows.length === 0) return { ok: true, uploadId: null, live: report };
      // The embedded cluster's name already says that it is emulated.
      const mark = report.emulated && clusterId !== embeddedClusterId ? ", emulated" : "";
      const until = new Date(toMs).toISOString().slice(0, 16).replace("T", " ");
      const saved = await uploads.save(
        Readable.from([Buffer.from(liveTable(rows))]),
        `${report.clusterName}${mark}, ${words} to ${until} UTC`,
      );
      if (!saved.ok) return saved;
      taken.set(saved.id, report);
      const oldest = taken.keys().next().value;
      if (taken.size > KEPT_TABLES && oldest !== undefined) taken.delete(oldest);
      return { ok: true, uploadId: saved.id, live: report };
    },
    /** The origin of a table; null if it was not made from a cluster, or not recently. */
    liveRows: (uploadId: string): LiveRows | null => taken.get(uploadId) ?? null,
    /** The present state of an uploaded table; null if it is no longer stored. */
    async table(uploadId: string): Promise<{ readonly name: string; readonly text: string } | null> {
      const source = uploads.open(uploadId);
      return source === null ? null : { name: source.name, text: await text(source.stream) };
    },
    /** Compares predictions with an uploaded table of runs; ends by itself or with the signal. */
    async *check(request: CheckRequest, signal: AbortSignal): AsyncIterable<CheckEvent> {
      const key = JSON.stringify([request, cards.read().userCards]);
      const known = checked.get(key);
      if (known !== undefined) return yield* known;
      const events: CheckEvent[] = [];
      for await (const event of freshCheck(request, signal)) {
        events.push(event);
        yield event;
      }
      if (events.at(-1)?.kind !== "checked") return;
      checked.set(key, events);
      const oldest = checked.keys().next().value;
      if (checked.size > KEPT_CHECKS && oldest !== undefined) checked.delete(oldest);
    },
    /** Starts to fit a profile to the runs of one engine in an uploaded table; `fit` reports its progress, by its id. */
    async startFit({ uploadId, profileId, engine, ...options }: FitRequest): Promise<Outcome<{ readonly id: string }>> {
      const chosen = profileOf(store, profileId);
      const base = chosen !== null && !isMeasured(chosen) && chosen.engine === engine ? chosen : engineProfiles[engine];
      const read = await rowsOf(uploadId);
      if (!read.ok) return read;
      const rows = read.rows.filter((row) => row.engine === engine);
      if (rows.length === 0) return { ok: false, message: `${read.name} has no run of ${engineNames[engine]} that can be predicted.` };
      const asOf = new Date().toISOString().slice(0, 10);
      // The profile's name says everywhere that it was fitted to emulated runs.
      const emulated = rows.some(({ origin }) => origin === "emulated");
      const name = emulated && !options.name.endsWith("(emulated)") ? `${options.name} (emulated)` : options.name;
      return fits.start({ kind: "fit", rows, base, userCards: cards.read().userCards, id: randomUUID(), asOf, ...options, name });
    },
    /** null: no such fit among the last ones of this run of the studio. */
    fit: fits.get,
    stopFit: fits.stop,
    keep(profile: EngineProfile, actor: Actor): Outcome<{ readonly id: string }> {
      if (profileOf(store, profile.id) !== null) return { ok: false, message: `"${profile.name}" is kept already.` };
      return insert(profile, actor, "keep engine profile");
    },
    /** Stores a profile from a file, under another id if its own is taken; refused if a profile has its name. */
    importProfile(profile: EngineProfile, actor: Actor): Outcome<{ readonly id: string }> {
      // A file's id is derived from its name: two fits of one name have the same.
      const id = profileOf(store, profile.id) === null ? profile.id : randomUUID();
      return insert({ ...profile, id }, actor, "import engine profile");
    },
    /** Uses a profile for plans from now on; saved plans stay unchanged. */
    use(id: string, actor: Actor): Outcome<object> {
      const profile = profileOf(store, id);
      if (profile === null) return { ok: false, message: "This profile is not kept any more: choose another." };
      if (profileInUse(store).id === id) return { ok: true };
      store.atomically(() => {
        note(actor, "plan with engine profile", { subject: profile.name, objectId: id }, `before: ${profileInUse(store).name}`);
        store.calibrations.use({ profileId: id, at: new Date().toISOString(), actor });
      });
      return { ok: true };
    },
    /** Refused while it is used for plans. */
    remove(id: string, actor: Actor): Outcome<object> {
      const kept = store.calibrations.list().find(({ profile }) => profile.id === id);
      if (kept === undefined) return { ok: false, message: "There is no such profile of your own." };
      if (profileInUse(store).id === id)
        return { ok: false, message: `Plans are made with "${kept.profile.name}": choose another profile for planning first.` };
      store.atomically(() => {
        store.calibrations.remove(id);
        note(actor, "remove engine profile", { subject: kept.profile.name, objectId: id });
      });
      return { ok: true };
    },
  };
}
