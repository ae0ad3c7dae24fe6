import { readFileSync } from "node:fs";
import { basename } from "node:path";
import { LineCounter, parseDocument } from "yaml";
import type { z } from "zod";
import type { Outcome } from "@/server/contracts/studio";
import { offsetOf } from "@/server/fleet/yamlOffset";
import { reasonOf } from "@/server/lib/reasonOf";

type Read<Value> = Outcome<{ readonly value: Value }>;

/** A YAML (or JSON) file by its schema; one sentence with file, line and field if it is invalid. */
export function readYamlFile<Schema extends z.ZodType>(flag: string, path: string, schema: Schema): Read<z.output<Schema>> {
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch {
    return { ok: false, message: `${flag}: ${path} is no file that can be read.` };
  }
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false });
  const at = (offset: number): string => `${basename(path)} line ${lines.linePos(offset).line}`;
  const [broken] = document.errors;
  if (broken !== undefined) return { ok: false, message: `${at(broken.pos[0])}: not YAML: ${firstLine(broken.message)}.` };
  let value: unknown;
  try {
    value = document.toJS();
  } catch (problem) {
    return { ok: false, message: `${basename(path)}: ${firstLine(reasonOf(problem))}.` };
  }
  // An empty file contains no requests.
  const parsed = schema.safeParse(value ?? {});
  if (parsed.success) return { ok: true, value: parsed.data };
  const [issue] = parsed.error.issues;
  const unknown = issue?.code === "unrecognized_keys" ? issue.keys.slice(0, 1) : [];
  const field = [...(issue?.path ?? []), ...unknown].map((key) => (typeof key === "number" ? key : String(key)));
  const missing = issue?.code === "invalid_type" && field.length > 0 && !document.hasIn(field);
  const says = unknown.length > 0 ? "there is no such field" : missing ? "it is missing" : issue?.message;
  return { ok: false, message: `${at(offsetOf(document, field))}: ${field.join(".") || "the whole file"}: ${says}.` };
}

const firstLine = (text: string): string => (text.split("\n")[0] ?? "").replace(/[.:]$/, "");
