import { ClusterDriver } from "./clusterDriver";
import type { ProgramOutcome } from "./programOutcome";
import type { ProgramSimulation } from "./programSimulation";
import { ProgramWorld } from "./programWorld";

/**
 * Programs on a modelled deployment, on virtual time, under the very policy object that the gateway runs. A program's requests come one by
 * one as the answers they read are there, each with those answers in its prompt. Deterministic; what happens at one instant has the order
 * that `simulateCluster` states.
 *
 * @throws when the policy has answers judged, names a model that the sample lacks, or a replica that is not there or full.
 */
export function simulatePrograms(simulation: ProgramSimulation): ProgramOutcome {
  const world = new ProgramWorld(simulation);
  const driver = new ClusterDriver(simulation.policy, world);
  driver.run();
  return world.outcome(driver.decisions);
}
