import { readFileSync } from "node:fs";
import { type Command, InvalidArgumentError } from "commander";
import type { JustInTimePolicy } from "@/solver/plan/policySchema";
import { readWorkflowText, type WorkflowReading } from "@/solver/workflow/graphs/importGraph";
import { refuse } from "./exitCodes";
import { numberFlag } from "./flagValues";

export interface WorkflowFlags {
  readonly workflow?: string;
  readonly predictor?: string;
  readonly beam?: number;
}

interface AskedWorkflow {
  /** null: no just-in-time policy is requested. */
  readonly asked: Pick<JustInTimePolicy, "workflows" | "selection"> | null;
  readonly notes: readonly string[];
}

/** Default number of partial assignments that a round keeps: the source's. */
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

/**
 * The requested just-in-time policy.
 * @throws Refusal
 */
export function readWorkflowFlags({ workflow: path, predictor, beam }: WorkflowFlags): AskedWorkflow {
  if (path === undefined)
    return predictor === undefined && beam === undefined
      ? { asked: null, notes: [] }
      : refuse("--predictor and --beam go with --workflow.");
  const { document, notes } = readWorkflowFile("--workflow", path);
  const workflows = [{ workflow: document, ...(predictor === undefined ? {} : { predictor }) }];
  return { asked: { workflows, selection: { kind: "beam", width: beam ?? BEAM_WIDTH } }, notes };
}

/**
 * A workflow, or a graph of another tool, in a JSON file.
 * @throws Refusal with the file and its problem.
 */
export function readWorkflowFile(flag: string, path: string): Extract<WorkflowReading, { ok: true }> {
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch {
    return refuse(`${flag}: ${path} is no file that can be read.`);
  }
  const read = readWorkflowText(text);
  return read.ok ? read : refuse(`${path}: ${read.message}`);
}
