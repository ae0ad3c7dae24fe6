import { type Command, Option } from "commander";
import { DEFAULT_JUDGE, type PlanningSituation } from "@/solver/cascade/explore/situation";
import { nearestNames } from "@/solver/hardware/aliases";
import { type CardCatalogue, cardOf } from "@/solver/hardware/catalogue";
import { JUDGE_SECONDS_BOUNDS, logSpreadOf } from "@/solver/judging/judgeTime";
import { refuse } from "./exitCodes";
import { numberFlag } from "./flagValues";

export interface RoutingFlags {
  readonly judgeSeconds?: number;
  readonly judgeUsd?: number;
  readonly judgeP95?: number;
  readonly judgeEngine?: string;
  readonly judgeRubricTokens?: number;
  readonly judgeOutputTokens?: number;
  readonly directStart?: DirectStart;
}

type Routing = Pick<PlanningSituation, "judge" | "directStart">;

/** Token counts of the gateway's own judge prompt with its markers, and the limit of a judge's answer. */
const JUDGE_PROMPT = { rubricTokens: 120, outputTokens: 8 } as const;

/**
 * Adds the flags for the variation of a judge's time, for a judge that runs as an engine of the plan, and for starting at a later stage.
 */
export const withRoutingFlags = (command: Command): Command =>
  command
    .option(
      "--judge-p95 <s>",
      "95th percentile of the time of a judge call, whose mean is --judge-seconds (default: every call takes the mean)",
      numberFlag(JUDGE_SECONDS_BOUNDS),
    )
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
    .addOption(directStartOption());

/** The AUC of a modelled router, or a trained one. */
export type DirectStart = number | "trained";

/** The flag for starting at a later stage; `readPolicy` reads a trained router. */
export const directStartOption = (): Option =>
  new Option(
    "--direct-start <router>",
    "let requests start at a later stage where a router is sure: trained, by a predictor that learns from --prompt-texts; or the AUC of a modelled one, an upper bound (off unless given)",
  ).argParser((text): DirectStart => (text === "trained" ? text : numberFlag({ min: 0.5, max: 1 })(text)));

/**
 * The judge and a modelled router of where requests may start, based on the given judge of fixed time.
 * @throws Refusal
 */
export function readRouting(flags: RoutingFlags, { models }: CardCatalogue): Routing {
  const { judgeEngine: model, directStart: router } = flags;
  const { judgeRubricTokens: rubricTokens, judgeOutputTokens: outputTokens } = flags;
  const directStart = typeof router === "number" ? { directStart: { auc: router } } : {};
  if (model === undefined) {
    if (rubricTokens !== undefined || outputTokens !== undefined)
      refuse("--judge-rubric-tokens and --judge-output-tokens go with --judge-engine.");
    return { ...readVariation(flags), ...directStart };
  }
  if (flags.judgeSeconds !== undefined || flags.judgeUsd !== undefined || flags.judgeP95 !== undefined)
    refuse("--judge-engine has the time and the cost of its engine: leave out --judge-seconds, --judge-p95 and --judge-usd.");
  if (cardOf(models, model) === undefined)
    refuse(`--judge-engine: there is no model card "${model}"${nearestNames(model, Object.keys(models))}.`);
  const { rubricTokens: rubric, outputTokens: output } = JUDGE_PROMPT;
  return {
    judge: { kind: "engine", model, rubricTokens: rubricTokens ?? rubric, outputTokens: outputTokens ?? output },
    ...directStart,
  };
}

/** A judge of fixed cost whose time has a mean and a 95th percentile; nothing if only its mean is given. */
function readVariation({
  judgeP95,
  judgeSeconds = DEFAULT_JUDGE.secondsPerCall,
  judgeUsd = DEFAULT_JUDGE.usdPerCall,
}: RoutingFlags): Routing {
  if (judgeP95 === undefined) return {};
  const logSpread = logSpreadOf(judgeSeconds, judgeP95);
  if (logSpread === null) return refuse(`--judge-p95 must lie between the mean of a judge call, ${judgeSeconds} s, and 3.87 times of it.`);
  const variation = { tokens: 1, lengthShare: 0, logSpread };
  const source = { kind: "entered" } as const;
  return { judge: { kind: "fixed", secondsPerCall: judgeSeconds, usdPerCall: judgeUsd, variation, source } };
}
