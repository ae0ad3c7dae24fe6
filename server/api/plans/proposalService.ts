import type { Outcome, Proposal } from "@/server/contracts/studio";
import type { Store } from "@/server/store/store";
import type { Actor } from "../base/actor";

/** Proposals: read from the store, dismissed by people; the watch creates them and closes outdated ones. */
export function createProposalService(store: Store) {
  return {
    /** Newest first. */
    list: (clusterId: string): readonly Proposal[] => store.proposals.list(clusterId),
    get: (id: string): Proposal | null => store.proposals.get(id),
    /** Refused if it is no longer open. */
    dismiss(id: string, actor: Actor): Outcome<object> {
      const proposal = store.proposals.get(id);
      if (proposal === null) return { ok: false, message: `There is no proposal ${id}.` };
      if (proposal.state !== "open") return { ok: false, message: `This proposal is ${proposal.state} already.` };
      const at = new Date().toISOString();
      store.atomically(() => {
        store.proposals.close(id, "dismissed", { at, by: actor });
        const about = { objectKind: "proposal", objectId: id, clusterId: proposal.clusterId } as const;
        store.audit.add({ at, actor, action: "dismiss proposal", subject: proposal.planId, detail: proposal.reason, ...about });
      });
      return { ok: true };
    },
  };
}
