import { readFileSync } from "node:fs";
import { type Command, InvalidArgumentError } from "commander";
import type { JustInTimeAsked } from "@/server/planning/workflows/justInTimeRouting";
import { type RoundChoice, roundChoices } from "@/solver/plan/policySchema";
import { readWorkflowText, type WorkflowReading } from "@/solver/workflow/graphs/importGraph";
import { refuse } from "./exitCodes";
import { numberFlag } from "./flagValues";

export interface WorkflowFlags {
  readonly workflow?: string;
  readonly predictor?: string;
  readonly beam?: number;
  readonly worth?: boolean;
  readonly rightSeconds?: number;
  readonly delayWeight?: number;
  readonly priced?: boolean;
  readonly answerScores?: boolean;
}

interface AskedWorkflow {
  /** null: no just-in-time policy is requested. */
  readonly asked: JustInTimeAsked | null;
  readonly notes: readonly string[];
}

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
    .option(
      "--beam <width>",
      `partial assignments kept in a round, which chooses for most throughput (default: ${roundChoices.beam.width})`,
      numberFlag({ min: 1, max: 64, whole: true }),
    )
    .option("--worth", "choose by worth in place of throughput: each request its own model, by right answers, time and the delay of others")
    .option(
      "--right-seconds <seconds>",
      `with --worth: seconds that a right answer is worth (default: ${roundChoices.worth.rightSeconds})`,
      numberFlag({ min: 0, max: 3600 }),
    )
    .option(
      "--delay-weight <weight>",
      `with --worth: how much the delay of those that wait counts against own time, 0 not at all (default: ${roundChoices.worth.delayWeight})`,
      numberFlag({ min: 0, max: 10 }),
    )
    .option("--priced", "with --worth: tokens of loaded models have a price, from the plan's loads")
    .option(
      "--answer-scores",
      "with --predictor: scores of agents' answers change which configurations count as accurate; the workload needs a column of confidence",
    );

function hashFlag(text: string): string {
  if (/^[0-9a-f]{64}$/.test(text)) return text;
  throw new InvalidArgumentError("Give the SHA-256 of its bytes, as the studio lists it.");
}

/**
 * The requested just-in-time policy.
 * @throws Refusal
 */
export function readWorkflowFlags({ workflow: path, predictor, answerScores = false, ...rule }: WorkflowFlags): AskedWorkflow {
  if (path === undefined)
    return predictor === undefined && rule.beam === undefined && rule.worth !== true && !answerScores
      ? { asked: null, notes: [] }
      : refuse("--predictor, --beam, --worth and --answer-scores go with --workflow.");
  const { document, notes } = readWorkflowFile("--workflow", path);
  const workflows = [{ workflow: document, ...(predictor === undefined ? {} : { predictor }) }];
  const selection = readRoundChoice(rule, "beam");
  // Which engines report no log probabilities, only a studio knows.
  return { asked: { workflows, selection, ...(answerScores && { answerScores: { silent: [] } }) }, notes };
}

/**
 * The rule by which rounds choose models.
 *
 * @param unless the rule where no flag names one.
 * @throws Refusal
 */
export function readRoundChoice(
  { beam, worth: asked = false, rightSeconds, delayWeight, priced = false }: Omit<WorkflowFlags, "workflow" | "predictor" | "answerScores">,
  unless: RoundChoice["kind"],
): RoundChoice {
  const worth = asked || (unless === "worth" && beam === undefined);
  if (asked && beam !== undefined) return refuse("--beam searches for throughput, --worth chooses request by request: give one of them.");
  if (!worth && (rightSeconds !== undefined || delayWeight !== undefined || priced))
    return refuse("--right-seconds, --delay-weight and --priced go with --worth.");
  const { width } = roundChoices.beam;
  if (!worth) return { kind: "beam", width: beam ?? width };
  const own = roundChoices.worth;
  const weights = { rightSeconds: rightSeconds ?? own.rightSeconds, delayWeight: delayWeight ?? own.delayWeight };
  return { ...own, ...weights, ...(priced && { priced }) };
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
