import { type Command, Option } from "commander";
import type { PlanningSituation } from "@/solver/cascade/explore/situation";
import { type PolicyChoice, policyChoices } from "@/solver/plan/planSlack";
import { type ConfidenceFlags, readConfidence, withConfidenceFlags } from "./confidenceFlags";
import { refuse } from "./exitCodes";

export interface PolicyFlags extends ConfidenceFlags {
  readonly policy?: PolicyChoice;
}

/** Adds the flags for the kinds of policies to plan, and for the confidences of slack dispatch. */
export const withPolicyFlags = (command: Command): Command =>
  withConfidenceFlags(
    command.addOption(
      new Option("--policy <policy>", "the kind of policy; any: the best of all on the objective (default: cascade)").choices(
        policyChoices,
      ),
    ),
  );

/**
 * The kinds of policies asked for, and the situation with the confidences that slack dispatch reads.
 *
 * @throws Refusal
 */
export async function readPolicy(
  flags: PolicyFlags,
  situation: PlanningSituation,
): Promise<{ readonly policy: PolicyChoice; readonly situation: PlanningSituation }> {
  const { policy = "cascade" } = flags;
  if (policy === "slack" || policy === "any") return { policy, situation: await readConfidence(flags, situation) };
  if (flags.promptTexts !== undefined) return refuse("--prompt-texts is read by slack dispatch: give --policy slack or any with it.");
  return { policy, situation };
}
