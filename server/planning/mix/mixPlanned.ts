import type { MixGround } from "@/solver/mix/mixGround";
import type { SolvedMix } from "@/solver/mix/solveMix";
import type { ModelDeployment } from "@/solver/plan/plan";
import type { JustInTimePolicy } from "@/solver/plan/policySchema";
import type { MixSituation } from "./mixSituation";
import type { MixTask } from "./mixTask";
import type { MixOutcome } from "./simulateMix";

/** Everything that a plan for a mix says. */
export interface MixPlanned {
  readonly task: MixTask;
  readonly mixed: MixSituation;
  readonly ground: MixGround;
  readonly solved: SolvedMix;
  readonly deployment: readonly ModelDeployment[];
  readonly policy: JustInTimePolicy;
  readonly simulated: MixOutcome;
  readonly loadFactor: number;
  readonly seconds: number;
}
