import type { Command } from "commander";
import type { PlanningSituation } from "@/server/planning/planningRequest";
import { nearestNames } from "@/solver/hardware/aliases";
import { type CardCatalogue, cardOf } from "@/solver/hardware/catalogue";
import { numberFlag } from "./flagValues";

export interface RoutingFlags {
  readonly judgeSeconds?: number;
  readonly judgeUsd?: number;
  readonly judgeEngine?: string;
  readonly judgeRubricTokens?: number;
  readonly judgeOutputTokens?: number;
  readonly directStart?: number;
}

type Read = ({ readonly ok: true } & Pick<PlanningSituation, "judge" | "directStart">) | { readonly ok: false; readonly message: string };

/** The gateway's own judge prompt with its marks, and the most it lets a judge write. */
const JUDGE_PROMPT = { rubricTokens: 120, outputTokens: 8 } as const;

/** Adds the flags for a judge that runs as an engine of the plan, and for starting at a later stage. */
export const withRoutingFlags = (command: Command): Command =>
  command
    .option("--judge-engine <model>", "the judge is this model, run as an engine of the plan, in place of a fixed time")
    .option(
      "--judge-rubric-tokens <n>",
      `what a judge call adds to prompt and answer (default: ${JUDGE_PROMPT.rubricTokens})`,
      numberFlag({ min: 0, max: 100_000, whole: true }),
    )
    .option(
      "--judge-output-tokens <n>",
      `what the judge writes in a call (default: ${JUDGE_PROMPT.outputTokens})`,
      numberFlag({ min: 1, max: 10_000, whole: true }),
    )
    .option(
      "--direct-start <auc>",
      "let requests start at a later stage where a router of this AUC is sure (modelled; off unless given)",
      numberFlag({ min: 0.5, max: 1 }),
    );

/** Who judges and where requests may start, over the judge of fixed time that is given; or one sentence on what is wrong. */
export function readRouting(flags: RoutingFlags, { models }: CardCatalogue): Read {
  const { judgeEngine: model, directStart: auc } = flags;
  const { judgeRubricTokens: rubricTokens, judgeOutputTokens: outputTokens } = flags;
  const directStart = auc === undefined ? {} : { directStart: { auc } };
  if (model === undefined) {
    if (rubricTokens !== undefined || outputTokens !== undefined)
      return { ok: false, message: "--judge-rubric-tokens and --judge-output-tokens go with --judge-engine." };
    return { ok: true, ...directStart };
  }
  if (flags.judgeSeconds !== undefined || flags.judgeUsd !== undefined)
    return { ok: false, message: "--judge-engine has the time and the cost of its engine: leave out --judge-seconds and --judge-usd." };
  if (cardOf(models, model) === undefined)
    return { ok: false, message: `--judge-engine: there is no model card "${model}"${nearestNames(model, Object.keys(models))}.` };
  const { rubricTokens: rubric, outputTokens: output } = JUDGE_PROMPT;
  return {
    ok: true,
    judge: { kind: "engine", model, rubricTokens: rubricTokens ?? rubric, outputTokens: outputTokens ?? output },
    ...directStart,
  };
}
