import type { Store } from "@/server/store/store";
import { engineProfiles } from "@/solver/hardware/builtInProfiles";
import { type EngineProfile, isMeasured } from "@/solver/hardware/engineProfile";
import { measuredFor } from "@/solver/hardware/measuredProfile";
import { gpuTypes } from "@/solver/plan/clusterGpus";
import { engineSoftware } from "./engineSoftware";

/** The profile plans are made with. */
export function profileInUse(store: Pick<Store, "calibrations">): EngineProfile {
  const id = store.calibrations.inUse();
  return (id === null ? null : profileOf(store, id)) ?? engineProfiles.vllm;
}

/** The profile in use for plans of a cluster: of measurements of one engine those of the software that serves there, as far as it is known. */
export function profileForCluster(store: Pick<Store, "calibrations" | "clusters" | "identities">, clusterId: string): EngineProfile {
  const profile = profileInUse(store);
  const cluster = store.clusters.get(clusterId);
  if (!isMeasured(profile) || cluster === null) return profile;
  const seen = store.identities.list(clusterId);
  const gpus = gpuTypes(cluster.spec);
  return measuredFor(profile, ({ model, gpu }) => (gpus.includes(gpu) ? engineSoftware(cluster, seen, model) : null));
}

/** A built-in or saved profile; null if there is none of this id. */
export function profileOf(store: Pick<Store, "calibrations">, id: string): EngineProfile | null {
  const builtIn = Object.values(engineProfiles).find((profile) => profile.id === id);
  return builtIn ?? store.calibrations.list().find(({ profile }) => profile.id === id)?.profile ?? null;
}
