import { type MirrorRequest, type Mirror as MirrorSummary, mirrorRequestSchema } from "@/server/contracts/gateway/gatewayControls";
import { conflict } from "../http/apiError";
import { percent } from "./canarySteps";
import { Mirror } from "./mirror";
import { WatchControl, type WatchDeps } from "./watchControl";

/** A mirror under an operator's hand. */
export function mirrorControl(deps: WatchDeps): WatchControl<MirrorRequest, MirrorSummary> {
  const { serving, store, metrics, limits } = deps;
  return new WatchControl(deps, {
    name: "mirror",
    schema: mirrorRequestSchema,
    kept: store.kept.mirror,
    describe: ({ share, maxInFlight }) =>
      `${percent(share)} of the cascade's requests are sent through all stages, at most ${maxInFlight} at once`,
    start(request) {
      if (serving.judge === null) return conflict("No judge is configured, so the answers of copies could not be scored.");
      const mirror = new Mirror({
        request,
        serving,
        limits,
        onCopy: (outcome) => metrics.recordCopy(outcome),
        onAnswer: (usage) => metrics.recordCopyTokens(usage),
      });
      serving.mirror = mirror;
      return {
        summary: () => mirror.summary(),
        close() {
          mirror.close();
          if (serving.mirror === mirror) serving.mirror = null;
        },
      };
    },
  });
}
