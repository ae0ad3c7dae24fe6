import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import { canarySchema, mirrorRequestSchema, panicSchema, shadowRequestSchema } from "@/server/contracts/gatewayControls";
import { isMissing, writeDurably } from "./durableFile";

const keptSchema = z.object({
  panic: panicSchema.nullable().default(null),
  canary: canarySchema.nullable().default(null),
  shadow: shadowRequestSchema.nullable().default(null),
  mirror: mirrorRequestSchema.nullable().default(null),
});

/** What of the controls outlives the gateway. */
export type KeptControls = z.infer<typeof keptSchema>;

/** Keeps what an operator does to live traffic in one file of the state directory. */
export class ControlsStore {
  readonly path: string;
  #written: Promise<void> = Promise.resolve();
  #kept: KeptControls = keptSchema.parse({});

  constructor(stateDirectory: string) {
    this.path = join(stateDirectory, "controls.json");
  }

  get kept(): KeptControls {
    return this.#kept;
  }

  /** Takes up what an earlier start kept. @returns why it could not, in one sentence; null where it could or there was nothing. */
  async load(): Promise<string | null> {
    try {
      this.#kept = keptSchema.parse(JSON.parse(await readFile(this.path, "utf8")));
      return null;
    } catch (error) {
      return isMissing(error) ? null : `${this.path} cannot be used: ${error instanceof Error ? error.message : String(error)}.`;
    }
  }

  /** Resolves when everything kept so far is written, or could not be. */
  get written(): Promise<void> {
    return this.#written;
  }

  /** Keeps a part anew; durable when it returns. */
  keep(part: Partial<KeptControls>): Promise<void> {
    this.#kept = { ...this.#kept, ...part };
    const written = this.#written.then(() => writeDurably(this.path, JSON.stringify(this.#kept, null, 2)));
    this.#written = written.catch(() => undefined);
    return written;
  }
}
