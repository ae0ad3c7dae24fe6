import { MAX_SEQUENCES } from "../hardware/replicaShapes";
import type { ModelDeployment } from "./plan";

type ReplicaGroup = ModelDeployment["replicas"][number];

/**
 * Maximum number of requests that one replica of a group holds at once, in simulation and gateway alike; the rest waits where the policy
 * orders it.
 */
export const inFlightLimit = ({ maxInFlight }: Pick<ReplicaGroup, "maxInFlight">): number => maxInFlight ?? MAX_SEQUENCES;
