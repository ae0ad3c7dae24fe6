import type { Policy } from "@/solver/policies/core/policy";
import type { DecidedRequest } from "../recordedWorld";

/** A policy that notes what it decides on each request, by its id; a driver of any world may lead it. */
export function loggedPolicy(policy: Policy): { readonly policy: Policy; readonly decided: ReadonlyMap<string, DecidedRequest> } {
  const decided = new Map<string, DecidedRequest>();
  const joined = new Map<string, number>();
  const sent = new Map<string, Pick<DecidedRequest["visits"][number], "stage" | "replicaId" | "dispatchedSeconds">>();
  let startReason = "";
  return {
    decided,
    policy: {
      ...policy,
      start(request) {
        const start = policy.start(request);
        startReason = start.reason;
        return start;
      },
      observe(event) {
        policy.observe(event);
        if (event.kind !== "queued") return;
        const { id, stage } = event.work;
        joined.set(id, stage);
        if (!decided.has(id)) decided.set(id, { startReason, visits: [] });
      },
      decide(view) {
        const actions = policy.decide(view);
        for (const action of actions) {
          const own = decided.get(action.workId);
          if (own === undefined) continue;
          if (action.kind === "dispatch") {
            const { stage = joined.get(action.workId) ?? 0, replicaId } = action;
            if (stage !== joined.get(action.workId) && own.visits.length === 0) own.startReason = "model-chosen-at-dispatch";
            sent.set(action.workId, { stage, replicaId, dispatchedSeconds: view.nowSeconds });
          } else if (action.kind === "accept" || action.kind === "escalate") {
            const at = sent.get(action.workId);
            const verdict = action.kind === "accept" ? "accepted" : "escalated";
            if (at !== undefined) own.visits.push({ ...at, verdict, reason: action.reason });
          }
        }
        return actions;
      },
    },
  };
}
