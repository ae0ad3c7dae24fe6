import type { Store } from "@/server/store/store";
import { engineProfiles } from "@/solver/hardware/builtInProfiles";
import type { EngineProfile } from "@/solver/hardware/engineProfile";

/** The profile plans are made with. */
export function profileInUse(store: Pick<Store, "calibrations">): EngineProfile {
  const id = store.calibrations.inUse();
  return (id === null ? null : profileOf(store, id)) ?? engineProfiles.vllm;
}

/** A built-in or saved profile; null if there is none of this id. */
export function profileOf(store: Pick<Store, "calibrations">, id: string): EngineProfile | null {
  const builtIn = Object.values(engineProfiles).find((profile) => profile.id === id);
  return builtIn ?? store.calibrations.list().find(({ profile }) => profile.id === id)?.profile ?? null;
}
