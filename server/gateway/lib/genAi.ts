// Words that spans and metrics share, by OpenTelemetry's conventions for generative AI.
import type { FailureKind, StageRecord } from "@/server/contracts/gateway/gatewayAdmin";

/** `gen_ai.provider.name` of the gateway and of engines behind it: the conventions list no name for engines of one's own. */
export const providerName = "weir";

/** `error.type` of an engine call that failed or of an answer without a score; a kind that says nothing has the conventions' word. */
export const errorType = (kind: FailureKind | NonNullable<StageRecord["unscored"]> | undefined): string =>
  kind === undefined || kind === "other" ? "_OTHER" : kind;

/** Engine seconds per output token after the first; null unless the answer was streamed and its tokens were counted. */
export function secondsPerOutputToken({ at, outputTokens }: Pick<StageRecord, "at" | "outputTokens">): number | null {
  if (at?.firstToken === undefined || outputTokens === null || outputTokens <= 1) return null;
  return (at.answered - at.firstToken) / (outputTokens - 1);
}
