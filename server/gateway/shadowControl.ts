import { type ShadowRequest, type Shadow as ShadowSummary, shadowRequestSchema } from "@/server/contracts/gatewayControls";
import { policyRefusal } from "@/solver/policies/policyRefusal";
import { hashRefusal } from "./candidateRefusal";
import { conflict, senseless } from "./control";
import { shortId } from "./planName";
import { Shadow } from "./shadow";
import { WatchControl, type WatchGround } from "./watchControl";

/** Nothing of it could be held against what is decided: it says where a request starts only when engines have room, of which a shadow has none. */
const unshadowed = "A just-in-time policy chooses models when engines have room for them, and a shadow has no engines: try it as a canary.";
const unseen = "The policy in force chooses models when engines have room, so that there is no start to hold a shadow's against.";

/** A shadow under an operator's hand. One that failed is still to be read, until it is ended or replaced; a restart does not take it up. */
export function shadowControl(ground: WatchGround): WatchControl<ShadowRequest, ShadowSummary> {
  const { serving, store, audit, metrics, turns, log } = ground;
  const onFailed = (reason: string): void => {
    log.error({ reason }, "the shadow failed and is ended");
    const noted = turns.take(async () => {
      await store.keep({ shadow: null });
      await audit.note({ by: "gateway", action: "shadow ended", detail: `The shadow ended on an error of its own: ${reason}` });
    });
    noted.catch((error) => log.error({ err: error }, "the end of the shadow could not be kept"));
  };
  return new WatchControl(ground, {
    name: "shadow",
    schema: shadowRequestSchema,
    kept: store.kept.shadow,
    describe: ({ candidate: { planId, policyHash } }) =>
      `The policy ${shortId(policyHash)} of the plan ${shortId(planId)} decides on live traffic without acting`,
    start(request) {
      const { candidate } = request;
      const refusal = policyRefusal(candidate.policy) ?? hashRefusal(candidate);
      if (refusal !== null) return senseless(refusal);
      if (candidate.policy.kind === "just-in-time") return senseless(unshadowed);
      if (serving.config?.policy.kind === "just-in-time") return conflict(unseen);
      const missing = serving.shelf.refusal(candidate.policy);
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
