import type { Store } from "@/server/store/store";
import type { ProfileService } from "./profilingServices";

export interface ProfileServiceParts {
  readonly store: Store;
}

/** Profiles: estimated, run, and made into workloads. */
export function createProfileService({ store }: ProfileServiceParts): ProfileService {
  const unready = { ok: false, message: "Profiles cannot be run yet." } as const;
  return {
    estimate: async () => unready,
    start: async () => unready,
    list: () => [],
    get: (id) => (store.profiles.get(id) === null ? null : null),
    pause: () => unready,
    resume: () => unready,
    stop: () => unready,
    toWorkload: async () => unready,
    toMeasuredRuns: () => unready,
  };
}
