import { type ShadowRequest, type Shadow as ShadowSummary, shadowRequestSchema } from "@/server/contracts/gatewayControls";
import { policyRefusal } from "@/solver/policies/policyRefusal";
import { hashRefusal } from "./candidateRefusal";
import { conflict, senseless } from "./control";
import { shortId } from "./planName";
import { Shadow } from "./shadow";
import { WatchControl, type WatchGround } from "./watchControl";

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
