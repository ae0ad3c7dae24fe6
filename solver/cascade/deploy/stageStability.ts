import { type Stability, stabilityOf } from "@/solver/engine/saturation";
import type { EngineProfile } from "@/solver/hardware/engineProfile";
import { wholePercent } from "@/solver/wording/wording";
import type { DeployedStage } from "./deployedStage";

type Loaded = Pick<DeployedStage, "model" | "utilisation">;

/** What the profile's predicted saturation rates may be off by, relative: its mean error end to end on runs its fit had not seen. */
const saturationError = ({ errors }: Pick<EngineProfile, "errors">): number => errors?.endToEnd.meanAbsolute ?? 0;

/** Whether a stage's queue stays bounded, judged at the low end of what its replicas may carry. */
export const stageStability = ({ utilisation }: Pick<Loaded, "utilisation">, profile: Pick<EngineProfile, "errors">): Stability =>
  stabilityOf(utilisation, saturationError(profile));

/** Where a stage stands, and why that cannot be relied on. */
export function loadText({ model, utilisation }: Loaded, profile: Pick<EngineProfile, "errors" | "name">): string {
  const error = saturationError(profile);
  const off = error === 0 ? "" : `, which the engine profile "${profile.name}" misses by ${wholePercent(error)} on average`;
  return `${model} stands at ${wholePercent(utilisation)} of its predicted saturation rate${off}`;
}
