import type { DeployedStage } from "@/solver/cascade/deploy/deployedStage";
import { loadText, stageStability } from "@/solver/cascade/deploy/stageStability";
import type { EngineProfile } from "@/solver/hardware/engineProfile";
import type { Workload } from "@/solver/workload/workload";

/** What an operator should read before trusting the figures of a slack dispatch, a sentence each. */
export function dispatchNotes({
  workload: { origin },
  profile,
  trained,
  deployment,
}: {
  readonly workload: Pick<Workload, "origin">;
  readonly profile: EngineProfile;
  readonly trained: boolean;
  readonly deployment: readonly DeployedStage[];
}): string[] {
  const near = deployment.filter((stage) => stageStability(stage, profile) !== "stable");
  return [
    "Percentiles are simulated: no public measurement of real engines validates a predicted p95.",
    `Engine times follow the profile "${profile.name}".`,
    trained
      ? "Confidence comes from a trained predictor; planning uses its scores of prompts that it was not trained on."
      : "Confidence is stated: the mean quality of each model on the planning prompts, the same for every prompt.",
    "Lengths of answers are not predicted: each request counts with its model's mean.",
    ...(origin.generated ? ["The workload is generated from published figures, not recorded."] : []),
    ...(origin.measured?.emulated
      ? ["Emulated engines gave the answers of the workload: its quality and lengths say nothing of real models."]
      : []),
    ...near.map((stage) => `Near saturation: ${loadText(stage, profile)}. A little more traffic costs much latency.`),
  ];
}
