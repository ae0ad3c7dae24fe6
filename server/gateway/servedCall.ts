import type { StageRecord } from "@/server/contracts/gatewayAdmin";
import type { ObservedCall } from "@/solver/workflow/observedCall";
import type { ModelRequest } from "./modelRequest";
import type { FollowedCall } from "./workflowBook";

/** A request as workflows are learnt from, whichever stages its policy put it through; null where it never reached an engine. */
export function servedCall(
  asked: ModelRequest,
  { arrivedSeconds, programId }: FollowedCall,
  stages: readonly StageRecord[],
): ObservedCall | null {
  const answers = stages.filter(({ verdict }) => verdict !== "failed");
  const first = answers[0] ?? stages.at(-1);
  const last = answers.at(-1) ?? first;
  if (first?.at === undefined || last?.at === undefined) return null;
  return {
    id: asked.decisionId,
    programId,
    application: asked.workflow,
    agent: asked.agent,
    upstream: asked.upstreamAgents,
    // What several took is how long none of them takes.
    model: answers.length > 1 ? answers.map(({ model }) => model).join(" > ") : last.model,
    arrivedSeconds,
    // The waits for further engines are added to the one for the first: all of them are made by the order itself.
    dispatchedSeconds: first.at.dispatched + waitSeconds(answers.slice(1)),
    finishedSeconds: last.at.answered,
    inputTokens: last.inputTokens ?? asked.inputTokens,
    outputTokens: last.outputTokens,
    failed: last.verdict !== "accepted",
  };
}

/** Engine seconds in queues, tries that failed included. */
function waitSeconds(stages: readonly StageRecord[]): number {
  return stages.reduce((sum, { at }) => (at === undefined ? sum : sum + at.dispatched - at.queued), 0);
}
