import type { StageRecord } from "@/server/contracts/gateway/gatewayAdmin";
import type { ObservedCall } from "@/solver/workflow/learning/observedCall";
import type { KnownCall, WorkflowLearner } from "@/solver/workflow/learning/workflowLearner";
import type { ModelRequest } from "../http/modelRequest";

/** A request for text in flight, as the workflow tracker follows it. */
export interface FollowedCall extends KnownCall {
  readonly arrivedSeconds: number;
  /** Unique over keys and applications: clients may count their sessions from 1. */
  readonly programId: string;
  /** The learner that started it; the times of the call are on its clock. */
  readonly learner: WorkflowLearner;
}

/** The call that the learner observes for a finished request, whatever stages it passed; null if it never reached an engine. */
export function observedCallOf(
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
    // The time that several models took together is not the time of any one of them.
    model: answers.length > 1 ? answers.map(({ model }) => model).join(" > ") : last.model,
    arrivedSeconds,
    // The waits for further engines are added to the wait for the first: the order causes all of them.
    dispatchedSeconds: first.at.dispatched + waitSeconds(answers.slice(1)),
    finishedSeconds: last.at.answered,
    inputTokens: last.inputTokens ?? asked.inputTokens,
    outputTokens: last.outputTokens,
    failed: last.verdict !== "accepted",
  };
}

/** Engine seconds in queues, including failed tries. */
function waitSeconds(stages: readonly StageRecord[]): number {
  return stages.reduce((sum, { at }) => (at === undefined ? sum : sum + at.dispatched - at.queued), 0);
}
