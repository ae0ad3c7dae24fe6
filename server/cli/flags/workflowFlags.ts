import { readFileSync } from "node:fs";
import { type Command, InvalidArgumentError } from "commander";
import type { JustInTimePolicy } from "@/solver/plan/policySchema";
import { readWorkflowText, type WorkflowReading } from "@/solver/workflow/graphs/importGraph";
import { numberFlag } from "./flagValues";

export interface WorkflowFlags {
  readonly workflow?: string;
  readonly predictor?: string;
  readonly beam?: number;
}

type Read =
  | { readonly ok: true; readonly asked: Pick<JustInTimePolicy, "workflows" | "selection"> | null; readonly notes: readonly string[] }
  | { readonly ok: false; readonly message: string };

/** Partial assignments that a round keeps unless more or fewer are asked for: the source's. */
const BEAM_WIDTH = 4;

/** Adds the flags for choosing the models of a workflow's agents just in time. */
export const withWorkflowFlags = (command: Command): Command =>
  command
    .option(
      "--workflow <file>",
      "choose the models of this workflow's agents just in time, on the plan's engines (JSON: Weir, LangGraph or DSPy)",
    )
    .option(
      "--predictor <hash>",
      "the trained predictor of its accurate configurations (without: the largest models alone count as accurate)",
      hashFlag,
    )
    .option("--beam <width>", `partial assignments kept in a round (default: ${BEAM_WIDTH})`, numberFlag({ min: 1, max: 64, whole: true }));

function hashFlag(text: string): string {
  if (/^[0-9a-f]{64}$/.test(text)) return text;
  throw new InvalidArgumentError("Give the SHA-256 of its bytes, as the studio lists it.");
}

/** What is asked of a just-in-time policy, null where nothing is; or one sentence on what is wrong. */
export function readWorkflowFlags({ workflow: path, predictor, beam }: WorkflowFlags): Read {
  if (path === undefined)
    return predictor === undefined && beam === undefined
      ? { ok: true, asked: null, notes: [] }
      : { ok: false, message: "--predictor and --beam go with --workflow." };
  const read = readWorkflowFile("--workflow", path);
  if (!read.ok) return read;
  const workflows = [{ workflow: read.document, ...(predictor === undefined ? {} : { predictor }) }];
  return { ok: true, asked: { workflows, selection: { kind: "beam", width: beam ?? BEAM_WIDTH } }, notes: read.notes };
}

/** A workflow, or a graph of another tool, in a JSON file; or one sentence with the file and what is wrong with it. */
export function readWorkflowFile(flag: string, path: string): WorkflowReading {
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch {
    return { ok: false, message: `${flag}: ${path} is no file that can be read.` };
  }
  const read = readWorkflowText(text);
  return read.ok ? read : { ok: false, message: `${path}: ${read.message}` };
}
