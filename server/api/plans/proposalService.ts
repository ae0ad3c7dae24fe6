import type { Outcome, Proposal } from "@/server/contracts/studio";
import type { Store } from "@/server/store/store";
import type { Actor } from "../base/actor";

/** Proposals: read from the store, dismissed by people; the watch makes them and closes those that time has overtaken. */
export function createProposalService(store: Store) {
  return {
    /** Newest first. */
    list: (clusterId: string): readonly Proposal[] => store.proposals.list(clusterId),
    get: (id: string): Proposal | null => store.proposals.get(id),
    /** Refused when it waits for no answer any more. */
    dismiss(id: string, actor: Actor): Outcome<object> {
      const proposal = store.proposals.get(id);
      if (proposal === null) return { ok: false, message: `There is no proposal ${id}.` };
      if (proposal.state !== "open") return { ok: false, message: `This proposal is ${proposal.state} already.` };
      const at = new Date().toISOString();
      store.atomically(() => {
        store.proposals.close(id, "dismissed", { at, by: actor });
        store.audit.add({ at, actor, action: "dismiss proposal", subject: proposal.planId, detail: proposal.reason });
      });
      return { ok: true };
    },
  };
}
