import { type Command, Option } from "commander";
import type { PlanningSituation } from "@/solver/cascade/explore/situation";
import { type PolicyChoice, policyChoices } from "@/solver/plan/planSlack";
import { type ConfidenceFlags, readConfidence, withConfidenceFlags } from "./confidenceFlags";
import { refuse } from "./exitCodes";
import { type DirectStart, directStartOption } from "./routingFlags";

export interface PolicyFlags extends TrainedStartFlags {
  readonly policy?: PolicyChoice;
  /** Whether baselines are asked for, of which one is a trained router. */
  readonly explain?: boolean;
}

/** The flags of a trained router. */
export interface TrainedStartFlags extends ConfidenceFlags {
  readonly directStart?: DirectStart;
}

/** Adds the flags for where requests start, for commands that take no others of the routing. */
export const withTrainedStartFlags = (command: Command): Command => withConfidenceFlags(command).addOption(directStartOption());

/** Adds the flags for the kinds of policies to plan, and for trained confidences. */
export const withPolicyFlags = (command: Command): Command =>
  withConfidenceFlags(
    command.addOption(
      new Option("--policy <policy>", "the kind of policy; any: the best of all on the objective (default: cascade)").choices(
        policyChoices,
      ),
    ),
  );

/**
 * The kinds of policies asked for, and the situation with the confidences that slack dispatch, cascade routing and a trained direct start read.
 *
 * @throws Refusal
 */
export async function readPolicy(
  flags: PolicyFlags,
  situation: PlanningSituation,
): Promise<{ readonly policy: PolicyChoice; readonly situation: PlanningSituation }> {
  const { policy = "cascade", explain = false } = flags;
  const dispatches = policy === "slack" || policy === "cascade-routing" || policy === "any";
  if (!dispatches && !explain && flags.promptTexts !== undefined && flags.directStart !== "trained")
    return refuse(
      "--prompt-texts is read by slack dispatch, cascade routing, a trained direct start and --explain: give one of them with it.",
    );
  if (!dispatches && flags.promptTexts === undefined && flags.directStart !== "trained") return { policy, situation };
  return { policy, situation: await readTrainedStart(flags, situation) };
}

/**
 * The situation with trained confidences, if texts of prompts are given, and with a trained direct start, if that is asked for.
 *
 * @throws Refusal where a trained direct start has no texts to learn from.
 */
export async function readTrainedStart(flags: TrainedStartFlags, situation: PlanningSituation): Promise<PlanningSituation> {
  if (flags.directStart !== "trained") return readConfidence(flags, situation);
  if (flags.promptTexts === undefined)
    return refuse("--direct-start trained learns from the texts of the prompts: give --prompt-texts, or the AUC of a modelled router.");
  const scored = await readConfidence(flags, situation);
  return scored.confidence === undefined ? scored : { ...scored, directStart: { predictor: scored.confidence.artefact } };
}
