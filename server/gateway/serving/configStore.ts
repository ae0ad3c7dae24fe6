import { createHash } from "node:crypto";
import { readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import { type GatewayConfig, gatewayConfigSchema } from "@/server/contracts/gateway/gatewayAdmin";
import { signedParts } from "@/server/contracts/gateway/signedOrder";
import { reasonOf } from "@/server/lib/reasonOf";
import { canonicalJson } from "@/solver/plan/canonical";
import { isMissing, writeDurably } from "../lib/durableFile";
import { configRefusal } from "./configRefusal";
import type { Proofs } from "./studioOrders";

/** The part of a configuration that belongs to its plan; the rest is the list of engines and the operator's other settings. */
const planPartSchema = gatewayConfigSchema.pick({ name: true, planId: true, policyHash: true, policy: true, judge: true });

const proofsSchema = z.partialRecord(z.enum(signedParts), z.string());

/** What the file holds in addition to the configuration; files of older gateways lack some of it. */
const savedSchema = gatewayConfigSchema.extend({
  earlierNames: z.array(z.string()).default([]),
  previous: planPartSchema.nullable().default(null),
  proofs: proofsSchema.default({}),
  previousProofs: proofsSchema.default({}),
});

export type PlanPart = z.infer<typeof planPartSchema>;

/** A configuration with the stored parts of earlier ones. */
export interface SavedConfig {
  readonly config: GatewayConfig;
  /** Names of the cascades before it, which clients may still use; newest first. */
  readonly earlierNames: readonly string[];
  /** Plan part of the previous plan, for a rollback. */
  readonly previous: PlanPart | null;
  /** What the studio signed of the configuration, and of the previous plan; empty where orders are not signed. */
  readonly proofs: Proofs;
  readonly previousProofs: Proofs;
}

/** The ETag of a configuration: SHA-256 of its canonical form. */
export function configEtag(config: GatewayConfig): string {
  return createHash("sha256").update(canonicalJson(config)).digest("hex");
}

export type LoadedConfig =
  | { readonly kind: "none" }
  /** `savedEtag`: of the configuration in the file, before fields with old names were renamed. */
  | ({ readonly kind: "loaded"; readonly savedEtag: string } & SavedConfig)
  /** The file exists but cannot be served; it is left unchanged. */
  | { readonly kind: "unusable"; readonly reason: string };

/** Stores the configuration in force in one file of the state directory. */
export class ConfigStore {
  readonly path: string;
  /** The file's stamp at the last look, and its ETag then. */
  #looked: { readonly stamp: string; readonly etag: Promise<string | null> } | null = null;

  constructor(stateDirectory: string) {
    this.path = join(stateDirectory, "gateway.json");
  }

  async load(): Promise<LoadedConfig> {
    let text: string;
    try {
      text = await readFile(this.path, "utf8");
    } catch (error) {
      return isMissing(error) ? { kind: "none" } : { kind: "unusable", reason: `${this.path} cannot be read: ${reasonOf(error)}.` };
    }
    try {
      const document = JSON.parse(text);
      const { earlierNames, previous, proofs, previousProofs, ...config } = savedSchema.parse(document);
      const refusal = configRefusal(config);
      if (refusal !== null) return { kind: "unusable", reason: `${this.path}: ${refusal}` };
      const { earlierNames: _, previous: __, proofs: ___, previousProofs: ____, ...saved } = document;
      return { kind: "loaded", savedEtag: configEtag(saved), config, earlierNames, previous, proofs, previousProofs };
    } catch (error) {
      return { kind: "unusable", reason: `${this.path} is not a gateway configuration: ${reasonOf(error)}.` };
    }
  }

  /** ETag of the configuration in the file, whichever process wrote it; null if it cannot be served. Reads the file after a change. */
  async etag(): Promise<string | null> {
    const stamp = await stat(this.path).then(
      ({ ino, size, mtimeMs }) => `${ino} ${size} ${mtimeMs}`,
      () => "",
    );
    if (this.#looked?.stamp !== stamp) {
      const etag = this.load().then((loaded) => (loaded.kind === "loaded" ? configEtag(loaded.config) : null));
      this.#looked = { stamp, etag };
    }
    return this.#looked.etag;
  }

  /** Durable when it returns. */
  save({ config, ...beside }: SavedConfig): Promise<void> {
    return writeDurably(this.path, JSON.stringify({ ...config, ...beside }, null, 2));
  }
}
