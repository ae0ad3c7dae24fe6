import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import { type GatewayConfig, gatewayConfigSchema } from "@/server/contracts/gatewayAdmin";
import { canonicalJson } from "@/solver/plan/canonical";
import { configRefusal } from "./configRefusal";
import { isMissing, writeDurably } from "./durableFile";

/** What the file holds: the configuration, and the names of the cascades before it, which files of older gateways lack. */
const savedSchema = gatewayConfigSchema.extend({ earlierNames: z.array(z.string()).default([]) });

/** The name of a configuration: SHA-256 of its canonical form. */
export function configEtag(config: GatewayConfig): string {
  return createHash("sha256").update(canonicalJson(config)).digest("hex");
}

export type LoadedConfig =
  | { readonly kind: "none" }
  | { readonly kind: "loaded"; readonly config: GatewayConfig; readonly earlierNames: readonly string[] }
  /** The file is there but cannot be served; it is left as it is. */
  | { readonly kind: "unusable"; readonly reason: string };

/** Keeps the configuration in force in one file of the state directory. */
export class ConfigStore {
  readonly path: string;

  constructor(stateDirectory: string) {
    this.path = join(stateDirectory, "gateway.json");
  }

  async load(): Promise<LoadedConfig> {
    let text: string;
    try {
      text = await readFile(this.path, "utf8");
    } catch (error) {
      return isMissing(error) ? { kind: "none" } : { kind: "unusable", reason: `${this.path} cannot be read: ${messageOf(error)}.` };
    }
    try {
      const { earlierNames, ...config } = savedSchema.parse(JSON.parse(text));
      const refusal = configRefusal(config);
      return refusal === null ? { kind: "loaded", config, earlierNames } : { kind: "unusable", reason: `${this.path}: ${refusal}` };
    } catch (error) {
      return { kind: "unusable", reason: `${this.path} is no gateway configuration: ${messageOf(error)}.` };
    }
  }

  /** Durable when it returns. */
  save(config: GatewayConfig, earlierNames: readonly string[]): Promise<void> {
    return writeDurably(this.path, JSON.stringify({ ...config, earlierNames }, null, 2));
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
