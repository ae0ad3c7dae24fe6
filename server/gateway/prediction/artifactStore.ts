import { createHash } from "node:crypto";
import { readdir, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import { artefactKinds } from "@/server/contracts/gateway/artefacts";
import { otherSpace } from "@/server/contracts/gateway/predictedSpace";
import { confidencePredictorOf, modelsOf, type PolicyDocument } from "@/solver/plan/policySchema";
import { workflowDocumentSchema } from "@/solver/plan/workflowDocument";
import type { EncoderIdentity } from "@/solver/prediction/confidence";
import { writeDurably } from "../lib/durableFile";
import { shortId } from "../lib/planName";
import { encoderRefusal, type HeldEncoders } from "./encoderFolders";

/** Largest artefact; a trained predictor has a few megabytes. */
export const artefactBytes = 16 * 1024 * 1024;
/** Room for the artefacts of the plans between which an operator switches. */
const mostKept = 16;
const mostBytes = 64 * 1024 * 1024;

/** Metadata of an artefact, known without reading it. */
const aboutSchema = z.object({
  kind: z.enum(artefactKinds),
  models: z.array(z.string()).readonly(),
  /** The encoder whose embeddings it reads, if any. */
  encoder: z.object({ name: z.string(), sha256: z.string() }).optional(),
  /** The workflow whose accurate configurations it predicts. */
  workflow: workflowDocumentSchema.optional(),
  bytes: z.int(),
  keptAtMs: z.number(),
});
export type AboutArtefact = z.infer<typeof aboutSchema>;

/** Predictors that are not there yet but will be uploaded. */
export interface Coming {
  readonly hashes: ReadonlySet<string>;
  /** The encoder whose embeddings the confidence predictor among them reads. */
  readonly encoder: EncoderIdentity | null;
}

/**
 * Trained predictors in `artefacts/` of the state directory, each in a file named by its hash, with its metadata in a second file next to
 * it. The metadata is written last, so that an artefact that a crash left incomplete counts as absent.
 */
export class ArtifactStore {
  readonly #directory: string;
  readonly #kept = new Map<string, AboutArtefact>();
  /** Encoders whose embeddings predictors may read here. */
  readonly encoders: HeldEncoders;

  constructor(stateDirectory: string, encoders: HeldEncoders) {
    this.#directory = join(stateDirectory, "artefacts");
    this.encoders = encoders;
  }

  /**
   * Loads what earlier starts kept.
   * @returns why some of it cannot be used, in a sentence; null if all can.
   */
  async load(): Promise<string | null> {
    const files = await readdir(this.#directory).catch(() => []);
    const unusable: string[] = [];
    for (const file of files.filter((name) => name.endsWith(".json"))) {
      const hash = file.slice(0, -".json".length);
      try {
        const about = aboutSchema.parse(JSON.parse(await readFile(join(this.#directory, file), "utf8")));
        if (sha256(await readFile(this.pathOf(hash))) !== hash) throw new Error("changed");
        this.#kept.set(hash, about);
      } catch {
        unusable.push(shortId(hash));
      }
    }
    return unusable.length === 0
      ? null
      : `The predictors ${unusable.join(", ")} in ${this.#directory} have another SHA-256 than their names say.`;
  }

  pathOf(hash: string): string {
    return join(this.#directory, `${hash}.bin`);
  }

  get(hash: string): AboutArtefact | undefined {
    return this.#kept.get(hash);
  }

  /** Oldest first. */
  get list(): readonly (AboutArtefact & { readonly hash: string })[] {
    return [...this.#kept].map(([hash, about]) => ({ hash, ...about })).sort((a, b) => a.keptAtMs - b.keptAtMs);
  }

  /** Why a policy cannot have the predictors that it names, given those that are `coming`; null if it can. */
  refusal(policy: PolicyDocument, coming: Coming = { hashes: new Set(), encoder: null }): string | null {
    for (const kind of ["lengths", "confidence"] as const) {
      const hash = kind === "confidence" ? confidencePredictorOf(policy) : policy.learnt?.lengths;
      if (hash === undefined) continue;
      const announced = { kind, encoder: kind === "confidence" ? (coming.encoder ?? undefined) : undefined };
      const kept = coming.hashes.has(hash) ? announced : this.#kept.get(hash);
      if (kept === undefined)
        return `The policy names the predictor ${shortId(hash)} for ${kind}, which this gateway does not have: PUT it to /artefacts/${hash} first.`;
      if (kept.kind !== kind) return `The policy names the predictor ${shortId(hash)} for ${kind}, but it is one for ${kept.kind}.`;
      const lacking = kept.encoder === undefined ? null : encoderRefusal(hash, kept.encoder, this.encoders);
      if (lacking !== null) return lacking;
    }
    return this.#workflowsRefusal(policy, coming);
  }

  /** The same for predictors of workflow configurations. The workflow of a coming predictor is checked once it has arrived. */
  #workflowsRefusal(policy: PolicyDocument, coming: Coming): string | null {
    if (policy.kind !== "just-in-time") return null;
    for (const { workflow, predictor: hash } of policy.workflows) {
      if (hash === undefined) continue;
      const named = `The policy names the predictor ${shortId(hash)} for configurations of ${workflow.name}`;
      const kept = this.#kept.get(hash);
      if (kept === undefined && coming.hashes.has(hash)) continue;
      if (kept === undefined) return `${named}, which this gateway does not have: PUT it to /artefacts/${hash} first.`;
      if (kept.workflow === undefined) return `${named}, but it is one for ${kept.kind}.`;
      const other = otherSpace({ workflow: kept.workflow, models: kept.models }, { workflow, models: modelsOf(policy) });
      if (other !== null) return `${named} over ${modelsOf(policy).join(", ")}, but ${other}.`;
      const lacking = kept.encoder === undefined ? null : encoderRefusal(hash, kept.encoder, this.encoders);
      if (lacking !== null) return lacking;
    }
    return null;
  }

  /**
   * Keeps an artefact, durable when it returns; if there is no room, the oldest unused ones are deleted.
   *
   * @returns false if there is still no room.
   */
  async keep(
    hash: string,
    bytes: Uint8Array,
    what: Omit<AboutArtefact, "bytes" | "keptAtMs">,
    used: ReadonlySet<string>,
  ): Promise<boolean> {
    if (this.#kept.has(hash)) return true;
    const unused = this.list.filter((kept) => !used.has(kept.hash));
    const fits = (): boolean =>
      this.#kept.size < mostKept && [...this.#kept.values()].reduce((sum, kept) => sum + kept.bytes, bytes.length) <= mostBytes;
    for (const { hash: oldest } of unused) {
      if (fits()) break;
      await this.remove(oldest);
    }
    if (!fits()) return false;
    const about: AboutArtefact = { ...what, bytes: bytes.length, keptAtMs: Date.now() };
    await writeDurably(this.pathOf(hash), bytes);
    await writeDurably(join(this.#directory, `${hash}.json`), JSON.stringify(about));
    this.#kept.set(hash, about);
    return true;
  }

  async remove(hash: string): Promise<void> {
    this.#kept.delete(hash);
    await rm(join(this.#directory, `${hash}.json`), { force: true });
    await rm(this.pathOf(hash), { force: true });
  }
}

export const sha256 = (bytes: Uint8Array): string => createHash("sha256").update(bytes).digest("hex");
