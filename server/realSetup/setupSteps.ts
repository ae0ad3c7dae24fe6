import type { RealSetupStepName } from "@/server/contracts/studio";
import { attachCluster, type ClusterParts, prepareFiles } from "./attachCluster";
import { type EngineParts, installEngine } from "./installEngine";
import { measureSpeed, type SpeedParts } from "./measureSpeed";
import { profileQuality, type QualityParts } from "./profileQuality";
import type { SetupStep } from "./setupStep";
import { type StartParts, startEngines } from "./startEngines";

/** What the steps need of the studio. */
export type StepParts = EngineParts & ClusterParts & StartParts & QualityParts & SpeedParts;

/** The step of each name. */
export const setupSteps = (parts: StepParts): Readonly<Record<RealSetupStepName, SetupStep>> => ({
  engine: installEngine(parts),
  models: prepareFiles(parts),
  cluster: attachCluster(parts),
  start: startEngines(parts),
  quality: profileQuality(parts),
  speed: measureSpeed(parts),
});
