import { isRecord } from "@/solver/collections/isRecord";
import type { ApiError } from "@/server/contracts/http/apiServer";

/** A field that vLLM's request schema (pydantic's) refuses. */
export interface FieldIssue {
  /** pydantic's name of the fault. */
  readonly type: string;
  /** Path of the field, from `body` on. */
  readonly loc: readonly (string | number)[];
  readonly msg: string;
  readonly input: unknown;
  /** What the fault adds, as Python writes it. */
  readonly ctx?: string;
}

/** The refusal of a body as vLLM words it (`entrypoints/serve/exception_handling/handlers/validation.py`). */
export function fieldError(issues: readonly FieldIssue[], param?: string): ApiError {
  const lines = issues.map(({ type, loc, msg, input, ctx }) => {
    const parts = [
      `'type': ${pythonText(type)}`,
      `'loc': ${pythonText(loc.join("."))}`,
      `'msg': ${pythonText(msg)}`,
      `'input': ${pythonText(shortInput(input))}`,
      ...(ctx === undefined ? [] : [`'ctx': ${ctx}`]),
    ];
    return `\n  {${parts.join(", ")}}`;
  });
  const message = `${issues.length} validation ${issues.length === 1 ? "error" : "errors"}:${lines.join("")}`;
  return { status: 400, type: "Bad Request", message, param: param ?? issues[0]?.loc.join(".") ?? "body" };
}

/** A text as Python's `repr` writes it. */
function pythonText(text: string): string {
  const quote = text.includes("'") && !text.includes('"') ? '"' : "'";
  const escaped = text.replaceAll("\\", "\\\\").replaceAll("\n", "\\n").replaceAll(quote, `\\${quote}`);
  return `${quote}${escaped}${quote}`;
}

const LONGEST_INPUT = 200;

/** Lists and objects are described, and long texts cut. */
function shortInput(input: unknown): string {
  if (Array.isArray(input)) return `<list of ${input.length} items>`;
  if (isRecord(input)) return `<dict of ${Object.keys(input).length} items>`;
  if (input === null) return "None";
  if (typeof input === "boolean") return input ? "True" : "False";
  const text = String(input);
  return text.length > LONGEST_INPUT ? `${text.slice(0, LONGEST_INPUT)}...[truncated]` : text;
}
