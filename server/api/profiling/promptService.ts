import { randomUUID } from "node:crypto";
import type { ControlledGateway } from "@/server/api/gateway/gatewayActs";
import { gatewayPrompts } from "@/server/api/gateway/gatewayPrompts";
import type { Outcome, PromptSet, PromptSurvey, PromptsOfGateway, SamplePrompts } from "@/server/contracts/studio";
import { reasonOf } from "@/server/lib/reasonOf";
import { sampleInThread, surveyInThread } from "@/server/prompts/promptsThread";
import { maxPromptBytes } from "@/server/store/uploads";
import type { Actor } from "../base/actor";
import { auditedRefusal } from "../base/auditedRefusal";
import type { ServiceParts } from "../base/serviceParts";
import { createCaptureErasure } from "./captureErasure";

/** An upload made from a gateway's stored prompts. */
interface PromptsTaken {
  readonly uploadId: string;
  readonly survey: PromptSurvey;
  /** Days within which the capture deletes its prompts; null: unknown, as for decision records. */
  readonly retentionDays: number | null;
}

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/** The actor of automatic actions. */
const studio = "studio";

export interface PromptParts extends Pick<ServiceParts, "store" | "uploads"> {
  /** null: the cluster is not connected. */
  readonly gatewayOf: (clusterId: string) => ControlledGateway | null;
}

/**
 * Samples of prompts: made from uploads and listed; their texts are deleted by a user or at the end of their retention, which is checked
 * now and every hour, until the service is closed.
 */
export function createPromptService({ store, uploads, gatewayOf }: PromptParts) {
  const closing = new AbortController();
  /** Uploads that are being sampled, and the names of their future samples. */
  const beingSampled = new Map<string, string>();
  /** Uploads that were taken from gateways since the studio started, with the cluster. */
  const takenFrom = new Map<string, string>();
  const note = store.audit.noting("prompts");

  /** For all of them at once: the store's files are rebuilt after it. */
  function forget(sets: readonly PromptSet[], actor: string, why: string): void {
    store.erasing(() => {
      for (const { id, name, prompts } of sets) {
        store.prompts.deleteTexts(id);
        store.profiles.dropAnswersOf(id);
        store.batches.dropAnswersOf(id);
        note(actor, "delete prompts", { subject: name, objectId: id }, `${prompts} prompts and the answers kept of them; ${why}`);
      }
    });
  }

  function sweep(): void {
    try {
      uploads.sweep();
      const over = store.prompts.expired(new Date().toISOString());
      if (over.length > 0) forget(over, studio, "their time was over");
    } catch (problem) {
      // Another process may hold the file: it is tried again an hour later.
      process.stderr.write(`Prompts whose time is over could not be deleted: ${reasonOf(problem)}\n`);
    }
  }

  // Samples begun by a studio that was killed.
  store.prompts.abandon();
  store.scrub();
  sweep();
  const timer = setInterval(sweep, HOUR_MS);
  timer.unref();

  /** Reads a file once into its own sample. On a failure the partial sample is removed. */
  async function sampleFile(
    file: { readonly path: string; readonly name: string },
    request: SamplePrompts,
    actor: string,
  ): Promise<Outcome<{ readonly id: string }>> {
    const { name, size, by, draw, ofTraffic, retentionDays } = request;
    const id = randomUUID();
    let [taken, isKept] = [0, false];
    store.prompts.begin(id, new Date().toISOString());
    try {
      const outcome = await sampleInThread(
        file,
        { size, by, draw, ofTraffic },
        (prompts) => {
          store.prompts.add(id, taken, prompts);
          taken += prompts.length;
        },
        closing.signal,
      );
      if (!outcome.ok) return outcome;
      const now = Date.now();
      const createdAt = new Date(now).toISOString();
      const expiresAt = retentionDays === null ? null : new Date(now + retentionDays * DAY_MS).toISOString();
      const { prompts, population } = outcome.sampled;
      store.atomically(() => {
        store.prompts.finish({ id, name, createdAt, actor, from: file.name, expiresAt, ...outcome.sampled });
        const kept = retentionDays === null ? "kept until deleted" : `kept for ${retentionDays} days`;
        note(
          actor,
          "sample prompts",
          { subject: name, objectId: id },
          `${prompts} of ${population} of ${file.name}, draw ${draw}, ${kept}`,
        );
      });
      isKept = true;
      return { ok: true, id };
    } finally {
      // If the store is closed, the next start does it.
      if (!isKept && !closing.signal.aborted && store.prompts.abandon(id) > 0 && taken > 0) store.scrub();
    }
  }

  /** What still asks the prompts of a sample, in words; null: nothing. */
  function askedBy(id: string): string | null {
    const [open] = store.profiles.openOn(id);
    if (open !== undefined) return `The profile "${open.request.name}"`;
    const [batch] = store.batches.openOn(id);
    return batch === undefined ? null : `The batch "${batch}"`;
  }

  const captureErasure = createCaptureErasure({
    ...{ store, uploads, gatewayOf },
    unsampledOf: (clusterId) =>
      [...takenFrom].flatMap(([id, from]) => (from === clusterId ? [{ id, isBeingSampled: beingSampled.has(id) }] : [])),
    isAsked: (id) => askedBy(id) !== null,
    forget,
  });

  return {
    /** Newest first. */
    list: (): readonly PromptSet[] => store.prompts.list(),
    /** Takes a stratified sample of an uploaded file; the file itself is deleted. */
    async sample(request: SamplePrompts, actor: Actor): Promise<Outcome<{ readonly id: string }>> {
      const { uploadId, name } = request;
      const file = uploads.file(uploadId);
      if (file === null) return { ok: false, message: "The uploaded file is not kept any more: send it again." };
      if (beingSampled.has(uploadId)) return { ok: false, message: "A sample of this file is being taken already." };
      const isTaken = [...beingSampled.values()].includes(name) || store.prompts.list().some((set) => set.name === name && !set.deleted);
      if (isTaken) return { ok: false, message: `There is a sample "${name}" already: give this one another name.` };
      beingSampled.set(uploadId, name);
      try {
        const sampled = await sampleFile(file, request, actor);
        if (sampled.ok) uploads.remove(uploadId);
        return sampled;
      } finally {
        beingSampled.delete(uploadId);
      }
    },
    /** Makes an upload from a gateway's stored prompts; refused with the reason and the setting to switch on. */
    async takeFromGateway({ clusterId, from }: PromptsOfGateway, actor: Actor): Promise<Outcome<PromptsTaken>> {
      const prompts = await gatewayPrompts(gatewayOf(clusterId), { clusterId, from });
      if (!prompts.ok) return prompts;
      const cluster = store.clusters.get(clusterId)?.spec.name ?? clusterId;
      const name = `${prompts.name} of ${cluster}, ${new Date().toISOString().slice(0, 16).replace("T", " ")} UTC`;
      let broken: string | null = null;
      async function* bytes(lines: AsyncIterable<string>): AsyncGenerator<Uint8Array> {
        try {
          for await (const line of lines) yield Buffer.from(`${line}\n`);
        } catch (problem) {
          broken = reasonOf(problem);
          throw problem;
        }
      }
      const saved = await uploads.save(bytes(prompts.lines), name, maxPromptBytes).catch((problem: unknown): Outcome<never> => {
        if (broken === null) throw problem;
        return { ok: false, message: broken };
      });
      if (!saved.ok) return saved;
      const read = await surveyInThread({ path: uploads.file(saved.id)?.path ?? "", name }, closing.signal);
      if (!read.ok) {
        uploads.remove(saved.id);
        return read;
      }
      note(
        actor,
        "take prompts of a gateway",
        { subject: cluster, objectKind: "capture", clusterId },
        `${read.survey.prompts} prompts of ${prompts.name}`,
      );
      takenFrom.set(saved.id, clusterId);
      return { ok: true, uploadId: saved.id, survey: read.survey, retentionDays: prompts.retentionDays };
    },
    eraseCaptured: captureErasure,
    /** Deletes an upload that was not sampled; it is not an error if it does not exist. Refused while it is being sampled. */
    archive(uploadId: string): Outcome<object> {
      if (beingSampled.has(uploadId)) return { ok: false, message: "A sample of this file is being taken: it goes when that is done." };
      uploads.remove(uploadId);
      return { ok: true };
    },
    /** Deletes the texts, and the stored answers to them; measurements stay. Refused while a profile runs on it. */
    deleteTexts(id: string, actor: Actor): Outcome<object> {
      const set = store.prompts.get(id);
      const attempt = { actor, action: "delete prompts", subject: set?.name ?? id, objectKind: "prompts", objectId: id } as const;
      const refuse = (message: string) => auditedRefusal(store, attempt, { ok: false, message });
      if (set === null) return refuse("There is no such sample of prompts.");
      if (set.deleted) return refuse(`The texts of "${set.name}" are deleted already.`);
      const asking = askedBy(id);
      if (asking !== null) return refuse(`${asking} still asks these prompts: stop it, or let it end, first.`);
      forget([set], actor, "by hand");
      return { ok: true };
    },
    close() {
      clearInterval(timer);
      closing.abort();
    },
  };
}
