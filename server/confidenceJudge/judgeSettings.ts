import { z } from "zod";
import type { Outcome } from "@/server/contracts/studio";
import { readFlags } from "@/server/lib/readFlags";
import type { ScoringEngine } from "./scoringEngine";

interface JudgeSettings {
  readonly engine: ScoringEngine;
  readonly host: string;
  /** 0: a free one. */
  readonly port: number;
}

const schema = z.strictObject({
  engine: z.url({ protocol: /^https?$/, error: "give an address such as http://127.0.0.1:8000" }),
  model: z.string().min(1),
  host: z.string().min(1).default("127.0.0.1"),
  port: z.coerce.number().int().min(0).max(65_535),
  seconds: z.coerce.number().positive().max(3600).default(10),
});

/** Reads the judge's flags; refuses with one sentence. */
export function readJudgeSettings(args: readonly string[]): Outcome<{ readonly settings: JudgeSettings }> {
  const read = readFlags(schema, args);
  if (!read.ok) return read;
  const { engine, model, host, port, seconds } = read.flags;
  return { ok: true, settings: { engine: { url: engine.replace(/\/+$/, ""), model, limitMs: seconds * 1000 }, host, port } };
}
