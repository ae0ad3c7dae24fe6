import type { Store } from "@/server/store/store";
import type { ProposalService } from "../base/planServices";

/** Proposals: read from the store, dismissed by people; the watch makes them and closes those that time has overtaken. */
export function createProposalService(store: Store): ProposalService {
  return {
    list: (clusterId) => store.proposals.list(clusterId),
    get: (id) => store.proposals.get(id),
    dismiss(id, actor) {
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
