import { createHash } from "node:crypto";
import { mkdir, open, readFile, rename } from "node:fs/promises";
import { dirname, join } from "node:path";
import { z } from "zod";
import { type GatewayConfig, gatewayConfigSchema } from "@/server/contracts/gatewayAdmin";
import { canonicalJson } from "@/solver/plan/canonical";
import { configRefusal } from "./configRefusal";

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

  /** Durable when it returns: a crash at any moment leaves the old file or the new one, whole. */
  async save(config: GatewayConfig, earlierNames: readonly string[]): Promise<void> {
    const directory = dirname(this.path);
    await mkdir(directory, { recursive: true });
    const written = `${this.path}.new`;
    const file = await open(written, "w", 0o600);
    try {
      await file.writeFile(JSON.stringify({ ...config, earlierNames }, null, 2));
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(written, this.path);
    const parent = await open(directory, "r");
    try {
      await parent.sync();
    } finally {
      await parent.close();
    }
  }
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "ENOENT";
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
