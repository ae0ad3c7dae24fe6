import { ClusterDriver } from "./clusterDriver";
import type { ProgramOutcome } from "./programOutcome";
import type { ProgramSimulation } from "./programSimulation";
import { ProgramWorld } from "./programWorld";

/**
 * Programs on a modelled deployment, on virtual time, under the same policy object that the gateway runs. A program's requests arrive one
 * by one when the answers they read are available, each with those answers in its prompt. Deterministic; the events of one instant have the
 * order that `simulateCluster` documents.
 *
 * @throws when the policy has answers judged, names a model that the sample lacks, or a replica that does not exist or is full.
 */
export function simulatePrograms(simulation: ProgramSimulation): ProgramOutcome {
  const world = new ProgramWorld(simulation);
  const driver = new ClusterDriver(simulation.policy, world);
  driver.run();
  return world.outcome(driver.decisions);
}
