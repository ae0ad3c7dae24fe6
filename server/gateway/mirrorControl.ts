import { type MirrorRequest, type Mirror as MirrorSummary, mirrorRequestSchema } from "@/server/contracts/gatewayControls";
import { percent } from "./canarySteps";
import { conflict } from "./control";
import { Mirror } from "./mirror";
import { WatchControl, type WatchGround } from "./watchControl";

/** A mirror under an operator's hand. */
export function mirrorControl(ground: WatchGround): WatchControl<MirrorRequest, MirrorSummary> {
  const { serving, store, metrics, limits } = ground;
  return new WatchControl(ground, {
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
