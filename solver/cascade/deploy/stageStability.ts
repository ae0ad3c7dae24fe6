import { type Stability, stabilityOf } from "@/solver/engine/saturation";
import type { EngineProfile } from "@/solver/hardware/engineProfile";
import { wholePercent } from "@/solver/wording/wording";
import type { DeployedStage } from "./deployedStage";

type Loaded = Pick<DeployedStage, "model" | "utilisation">;

/** Relative error of the profile's predicted saturation rates: its mean end-to-end error on runs its fit had not seen. */
const saturationError = ({ errors }: Pick<EngineProfile, "errors">): number => errors?.endToEnd.meanAbsolute ?? 0;

/** Whether a stage's queue stays bounded, judged at the low end of the rate that its replicas may sustain. */
export const stageStability = ({ utilisation }: Pick<Loaded, "utilisation">, profile: Pick<EngineProfile, "errors">): Stability =>
  stabilityOf(utilisation, saturationError(profile));

/** The state of a stage, and why it cannot be relied on. */
export function loadText({ model, utilisation }: Loaded, profile: Pick<EngineProfile, "errors" | "name">): string {
  const error = saturationError(profile);
  const off = error === 0 ? "" : `, which the engine profile "${profile.name}" misses by ${wholePercent(error)} on average`;
  return `${model} stands at ${wholePercent(utilisation)} of its predicted saturation rate${off}`;
}
