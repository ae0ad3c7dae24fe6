import { clusterReplicas, enginesByModel } from "@/server/lab/labEngines";
import { atRate } from "@/server/lab/labPrograms";
import { simulatePrograms } from "@/solver/cluster/simulatePrograms";
import { type CellFigures, cellFigures } from "@/solver/lab/cellFigures";
import type { LabSystem } from "@/solver/lab/labSpec";
import type { Policy } from "@/solver/policies/core/policy";
import { hardware, type SeededRace } from "./seededRace";

/** What the lab has no word for: another policy on a system's engines, or configurations that nobody in the lab would tell. */
export interface DirectRun {
  readonly policy: Policy;
  readonly replicas: LabSystem["replicas"];
  readonly configurations: (program: number) => Uint32Array | undefined;
}

/** Serves the programs of a race at a rate as the lab would. */
export function directRun(
  { spec, sample, served }: SeededRace,
  rate: number,
  { policy, replicas, configurations }: DirectRun,
): CellFigures {
  const arriving = atRate(served, rate);
  const outcome = simulatePrograms({
    ...{ policy, sample: arriving, predictions: { configurations } },
    replicas: clusterReplicas(enginesByModel(replicas ?? spec.replicas, hardware), spec, sample),
    ...{ overhead: spec.overhead, telemetrySeconds: spec.telemetrySeconds },
  });
  const figures = cellFigures(outcome, arriving, 1);
  if (figures === null) throw new Error("No program was served whole");
  return figures;
}
