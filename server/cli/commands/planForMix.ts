import { planMixInThread } from "@/server/planning/mix/mixThread";
import type { RoundChoice } from "@/solver/plan/policySchema";
import { describeBeside, describeMix } from "../describe/describeMix";
import { describePlan } from "../describe/describePlan";
import { EXIT, type ExitCode, refuse } from "../flags/exitCodes";
import { readMixFile } from "../flags/mixFile";
import { type PlanningFlags, readPlanning } from "../flags/planningFlags";
import { readRoundChoice, type WorkflowFlags } from "../flags/workflowFlags";

export interface MixFlags extends Omit<PlanningFlags, "rate">, WorkflowFlags {
  readonly mix: string;
  readonly json?: boolean;
}

/** Flags of `weir plan` that say what a mix's file says, or plan something else. */
const others = {
  ...{ rate: "--rate", quality: "--quality", latency: "--latency", cost: "--cost", slack: "--slack", highestRate: "--highest-rate" },
  ...{ tau: "--tau", gate: "--gate", policy: "--policy", explain: "--explain", largestStage: "--largest-stage" },
  ...{ pointEstimate: "--point-estimate", order: "--order", place: "--place", workflow: "--workflow", predictor: "--predictor" },
  ...{ answerScores: "--answer-scores", promptTexts: "--prompt-texts", directStart: "--direct-start", judgeEngine: "--judge-engine" },
} as const;

/**
 * `weir plan --mix`: engines and policy for a mix of single requests, workflows and ensembles, and the same mix on what runs.
 *
 * @throws Refusal
 */
export async function planForMix(flags: MixFlags): Promise<ExitCode> {
  const also = Object.entries(others).find(([flag]) => (flags as unknown as Record<string, unknown>)[flag] !== undefined);
  if (also !== undefined) return refuse(`--mix names rates and floors of the whole traffic: leave out ${also[1]}.`);
  const { traffic, notes } = readMixFile(flags.mix);
  const selection: RoundChoice = readRoundChoice(flags, "worth");
  const { requestsPerSecond: _, ...situation } = await readPlanning({ ...flags, rate: 1 });
  const never = new AbortController();
  const answer = await planMixInThread({ situation, mix: { ...traffic, selection } }, { signal: never.signal });
  if (!answer.ok) {
    const { kind, message } = answer;
    if (flags.json === true) process.stdout.write(`${JSON.stringify({ outcome: "infeasible", kind, reason: message }, null, 2)}\n`);
    return refuse(message, kind === "malformed" ? EXIT.badInput : EXIT.infeasible);
  }
  const { plan, beside } = answer;
  const text = [describePlan(plan), describeMix(plan), describeBeside(beside), ...notes.map((note) => `  - ${note}\n`)].join("");
  process.stdout.write(flags.json === true ? `${JSON.stringify(plan, null, 2)}\n` : text);
  return EXIT.done;
}
