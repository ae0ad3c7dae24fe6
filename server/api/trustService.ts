import type { Store } from "@/server/store/store";
import type { TrustService } from "./profilingServices";

/** Labels given by hand, and what they say of a profile's measures. */
export function createTrustService({ store }: { readonly store: Store }): TrustService {
  const unknown = (jobId: string) => ({ ok: false as const, message: `There is no profile ${jobId} with kept answers.` });
  return {
    next: unknown,
    label: ({ jobId }) => unknown(jobId),
    undo: unknown,
    report(jobId, floor) {
      if (store.handLabels.count(jobId) > 0) return unknown(jobId);
      return { ok: true, trust: { floor, labels: 0, measures: [], recheck: null } };
    },
  };
}
