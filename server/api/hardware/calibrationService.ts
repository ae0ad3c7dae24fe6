import { randomUUID } from "node:crypto";
import { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { calibrate } from "@/server/calibration/calibrate";
import type { CalibrationSource } from "@/server/calibration/calibrationSource";
import { liveServingRows } from "@/server/calibration/liveServingRows";
import { profileInUse, profileOf } from "@/server/calibration/profileInUse";
import type { CardStore } from "@/server/cards/cardStore";
import type { CheckEvent, LiveRows, LiveSpan, Outcome } from "@/server/contracts/studio";
import { embeddedClusterId } from "@/server/fleet/fleet";
import { importServingRows, type MeasuredRows } from "@/server/planning/imports/importServingRows";
import type { Store } from "@/server/store/store";
import type { Uploads } from "@/server/store/uploads";
import { liveTable } from "@/solver/calibration/liveRows";
import { engineProfiles } from "@/solver/hardware/builtInProfiles";
import { type EngineProfile, engineNames } from "@/solver/hardware/engineProfile";
import type { CalibrationService } from "../base/hardwareServices";
import type { CheckRequest } from "../base/inputs";
import { createCalibrationFits } from "./calibrationFits";

/** Checks kept whole, so that a page that is loaded again or a profile looked at again shows at once; each is some MB at most. */
const KEPT_CHECKS = 4;

/** Tables taken from clusters of which is known what they were made of. */
const KEPT_TABLES = 16;

const HOUR_MS = 3_600_000;
const spans: Readonly<Record<LiveSpan, { readonly lengthMs: number; readonly words: string }>> = {
  hour: { lengthMs: HOUR_MS, words: "hour" },
  day: { lengthMs: 24 * HOUR_MS, words: "day" },
  week: { lengthMs: 7 * 24 * HOUR_MS, words: "week" },
};

export interface CalibrationParts {
  readonly store: Store;
  readonly uploads: Uploads;
  readonly cards: CardStore;
  readonly sourceOf: CalibrationSource;
}

/** Engine profiles over the store; predicting and fitting is done in a thread of its own. */
export function createCalibrationService({ store, uploads, cards, sourceOf }: CalibrationParts): CalibrationService {
  const fits = createCalibrationFits();
  const checked = new Map<string, readonly CheckEvent[]>();
  const taken = new Map<string, LiveRows>();
  const note = (actor: string, action: string, subject: string, detail: string) =>
    store.audit.add({ at: new Date().toISOString(), actor, action, subject, detail });

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
    const profiles = { ...engineProfiles, [profile.engine]: profile };
    const { userCards } = cards.read();
    for await (const reply of calibrate({ kind: "check", rows, profiles, userCards }, signal)) {
      if (reply.kind !== "fit") yield reply;
    }
  }

  function insert(profile: EngineProfile, actor: string, action: string): Outcome<{ readonly id: string }> {
    const sameName = [...Object.values(engineProfiles), ...store.calibrations.list().map((kept) => kept.profile)];
    if (sameName.some(({ name }) => name === profile.name))
      return { ok: false, message: `There is a profile "${profile.name}" already: give another name.` };
    store.atomically(() => {
      store.calibrations.insert({ profile, createdAt: new Date().toISOString(), actor });
      note(actor, action, profile.name, `${engineNames[profile.engine]}, fitted on ${profile.fittedOn?.rows ?? 0} runs`);
    });
    return { ok: true, id: profile.id };
  }

  return {
    list: () => ({ builtIn: Object.values(engineProfiles), own: store.calibrations.list(), inUse: profileInUse(store).id }),
    async calibrateFromLive({ clusterId, span }) {
      const source = await sourceOf(clusterId);
      if (!source.ok) return source;
      const { lengthMs, words } = spans[span];
      const toMs = Date.now();
      const { rows, report } = await liveServingRows(source.cluster, { fromMs: toMs - lengthMs, toMs }, cards.read().catalogue);
      if (rows.length === 0) return { ok: true, uploadId: null, live: report };
      // The embedded cluster is emulated by its name.
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
    liveRows: (uploadId) => taken.get(uploadId) ?? null,
    async table(uploadId) {
      const source = uploads.open(uploadId);
      return source === null ? null : { name: source.name, text: await text(source.stream) };
    },
    async *check(request, signal) {
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
    async startFit({ uploadId, profileId, engine, ...options }) {
      const chosen = profileOf(store, profileId);
      const base = chosen?.engine === engine ? chosen : engineProfiles[engine];
      const read = await rowsOf(uploadId);
      if (!read.ok) return read;
      const rows = read.rows.filter((row) => row.engine === engine);
      if (rows.length === 0) return { ok: false, message: `${read.name} has no run of ${engineNames[engine]} that can be predicted.` };
      const asOf = new Date().toISOString().slice(0, 10);
      // Wherever the profile is named it says what it was fitted to.
      const emulated = rows.some(({ origin }) => origin === "emulated");
      const name = emulated ? `${options.name} (emulated)` : options.name;
      return fits.start({ kind: "fit", rows, base, userCards: cards.read().userCards, id: randomUUID(), asOf, ...options, name });
    },
    fit: fits.get,
    stopFit: fits.stop,
    keep(profile, actor) {
      if (profileOf(store, profile.id) !== null) return { ok: false, message: `"${profile.name}" is kept already.` };
      return insert(profile, actor, "keep engine profile");
    },
    importProfile(profile, actor) {
      // A file's id is made of its name: two fits of one name have the same.
      const id = profileOf(store, profile.id) === null ? profile.id : randomUUID();
      return insert({ ...profile, id }, actor, "import engine profile");
    },
    use(id, actor) {
      const profile = profileOf(store, id);
      if (profile === null) return { ok: false, message: "This profile is not kept any more: choose another." };
      if (profileInUse(store).id === id) return { ok: true };
      store.atomically(() => {
        note(actor, "plan with engine profile", profile.name, `before: ${profileInUse(store).name}`);
        store.calibrations.use({ profileId: id, at: new Date().toISOString(), actor });
      });
      return { ok: true };
    },
    remove(id, actor) {
      const kept = store.calibrations.list().find(({ profile }) => profile.id === id);
      if (kept === undefined) return { ok: false, message: "There is no such profile of your own." };
      if (profileInUse(store).id === id)
        return { ok: false, message: `Plans are made with "${kept.profile.name}": choose another profile for planning first.` };
      store.atomically(() => {
        store.calibrations.remove(id);
        note(actor, "remove engine profile", kept.profile.name, "");
      });
      return { ok: true };
    },
  };
}
