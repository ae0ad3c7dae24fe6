import { type ShadowRequest, type Shadow as ShadowSummary, shadowRequestSchema } from "@/server/contracts/gateway/gatewayControls";
import { policyRefusal } from "@/solver/policies/policyRefusal";
import { badRequest, conflict } from "../http/apiError";
import { shortId } from "../lib/planName";
import { hashRefusal } from "./candidateRefusal";
import { Shadow } from "./shadow";
import { WatchControl, type WatchDeps } from "./watchControl";

/** Nothing of it could be held against what is decided: it says where a request starts only when engines have room, of which a shadow has none. */
const unshadowed = "A just-in-time policy chooses a model when an engine has room, and a shadow has no engines: try it as a canary.";
const unseen = "The policy in force chooses a model when an engine has room, so a shadow has no start to compare with.";

/** A shadow under an operator's hand. One that failed is still to be read, until it is ended or replaced; a restart does not take it up. */
export function shadowControl(deps: WatchDeps): WatchControl<ShadowRequest, ShadowSummary> {
  const { serving, store, audit, metrics, mutex, log } = deps;
  const onFailed = (reason: string): void => {
    log.error({ reason }, "the shadow failed and is ended");
    const noted = mutex.run(async () => {
      await store.keep({ shadow: null });
      await audit.note({ by: "gateway", action: "shadow ended", detail: `The shadow failed and ended: ${reason}` });
    });
    noted.catch((error) => log.error({ err: error }, "the end of the shadow could not be stored"));
  };
  return new WatchControl(deps, {
    name: "shadow",
    schema: shadowRequestSchema,
    kept: store.kept.shadow,
    describe: ({ candidate: { planId, policyHash } }) =>
      `The policy ${shortId(policyHash)} of the plan ${shortId(planId)} decides on live traffic without acting`,
    start(request) {
      const { candidate } = request;
      const refusal = policyRefusal(candidate.policy) ?? hashRefusal(candidate);
      if (refusal !== null) return badRequest(refusal);
      if (candidate.policy.kind === "just-in-time") return badRequest(unshadowed);
      if (serving.config?.policy.kind === "just-in-time") return conflict(unseen);
      const missing = serving.artifacts.refusal(candidate.policy);
      if (missing !== null) return conflict(missing);
      const shadow = new Shadow({ request, onDifference: (difference) => metrics.recordDifference(difference), onFailed });
      serving.shadow = shadow;
      return {
        summary: () => shadow.summary(),
        close() {
          if (serving.shadow === shadow) serving.shadow = null;
        },
      };
    },
  });
}
