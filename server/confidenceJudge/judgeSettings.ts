import { parseArgs } from "node:util";
import { z } from "zod";
import type { Outcome } from "@/server/contracts/studio";
import type { ScoringEngine } from "./scoringEngine";

export interface JudgeSettings {
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

const names = Object.keys(schema.shape);

/** Reads the judge's flags; refuses with one sentence. */
export function readJudgeSettings(args: readonly string[]): Outcome<{ readonly settings: JudgeSettings }> {
  let given: Readonly<Record<string, unknown>>;
  try {
    const options = Object.fromEntries(names.map((name) => [name, { type: "string" as const }]));
    given = { ...parseArgs({ args: [...args], options, strict: true }).values };
  } catch {
    const known = names.map((name) => `--${name}`).join(", ");
    return { ok: false, message: `The flags cannot be read: each of ${known} takes one value, and there are no others.` };
  }
  const parsed = schema.safeParse(given);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    const name = String(issue?.path[0]);
    return { ok: false, message: given[name] === undefined ? `--${name} is missing.` : `--${name} ${given[name]}: ${issue?.message}.` };
  }
  const { engine, model, host, port, seconds } = parsed.data;
  return { ok: true, settings: { engine: { url: engine.replace(/\/+$/, ""), model, limitMs: seconds * 1000 }, host, port } };
}
