import { parseArgs } from "node:util";
import type { z } from "zod";
import type { Outcome } from "@/server/contracts/studio";

/**
 * Reads the flags of a process: each field of the schema is a flag `--name` with one value.
 *
 * @returns the checked values, or one sentence about the first flag at fault.
 */
export function readFlags<Shape extends z.ZodRawShape>(
  schema: z.ZodObject<Shape>,
  args: readonly string[],
): Outcome<{ readonly flags: z.output<z.ZodObject<Shape>> }> {
  const names = Object.keys(schema.shape);
  let given: Readonly<Record<string, unknown>>;
  try {
    const options = Object.fromEntries(names.map((name) => [name, { type: "string" as const }]));
    given = { ...parseArgs({ args: [...args], options, strict: true }).values };
  } catch {
    const known = names.map((name) => `--${name}`).join(", ");
    return { ok: false, message: `The flags cannot be read: each of ${known} takes one value, and there are no others.` };
  }
  const parsed = schema.safeParse(given);
  if (parsed.success) return { ok: true, flags: parsed.data };
  const [issue] = parsed.error.issues;
  const name = String(issue?.path[0]);
  return { ok: false, message: given[name] === undefined ? `--${name} is missing.` : `--${name} ${given[name]}: ${issue?.message}.` };
}
