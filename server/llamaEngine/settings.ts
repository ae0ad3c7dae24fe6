import { z } from "zod";
import { addonsFolder } from "@/server/addons/addonFolder";
import type { Outcome } from "@/server/contracts/studio";
import { readFlags } from "@/server/lib/readFlags";

/** How an engine is started. */
export interface EngineSettings {
  /** The GGUF file. */
  readonly model: string;
  /** The model's name in requests. */
  readonly alias: string;
  readonly host: string;
  /** 0: a free one. */
  readonly port: number;
  /** Requests that run at once. */
  readonly sequences: number;
  /** Most tokens of one prompt and its answer; absent: those of the model's training, at most 8192. */
  readonly contextTokens?: number;
  readonly threads?: number;
  /** Most tokens of one step, over all sequences. */
  readonly batchTokens: number;
  /** Requests that wait at most. */
  readonly queue: number;
  /** Seconds that running requests get to finish when the process is asked to end. */
  readonly graceSeconds: number;
  /** The folder of add-ons. */
  readonly addons: string;
}

const count = (most: number) => z.coerce.number().int().min(1).max(most);

const schema = z.strictObject({
  model: z.string().min(1),
  alias: z.string().min(1),
  host: z.string().min(1).default("127.0.0.1"),
  port: z.coerce.number().int().min(0).max(65_535),
  sequences: count(1024).default(8),
  context: count(1_048_576).optional(),
  threads: count(1024).optional(),
  batch: count(65_536).default(512),
  queue: z.coerce.number().int().min(0).max(1_000_000).default(1024),
  grace: z.coerce.number().min(0).max(3600).default(30),
  addons: z.string().min(1).optional(),
});

/** Reads the flags; refuses with one sentence. */
export function readSettings(
  args: readonly string[],
  environment: Readonly<Record<string, string | undefined>>,
): Outcome<{ readonly settings: EngineSettings }> {
  const read = readFlags(schema, args);
  if (!read.ok) return read;
  const { context, threads, batch, grace, addons, ...rest } = read.flags;
  return {
    ok: true,
    settings: {
      ...rest,
      ...(context === undefined ? {} : { contextTokens: context }),
      ...(threads === undefined ? {} : { threads }),
      // A step decodes one token of every sequence.
      batchTokens: Math.max(batch, rest.sequences),
      graceSeconds: grace,
      addons: addons ?? addonsFolder(environment),
    },
  };
}
