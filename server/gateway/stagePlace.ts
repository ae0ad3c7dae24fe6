import type { AgentForecast, WaitingWork } from "@/solver/policies/policy";
import type { ModelRequest } from "./modelRequest";
import type { Work } from "./waitingEntry";
import type { FollowedCall } from "./workflowBook";

type Expected = Pick<WaitingWork, "predictedTokens" | "predictedProgramTokens">;

/** Where a request stands in its policy. */
export class StagePlace {
  /** 0 for the first. */
  stage = 0;
  /** Engines that failed it at this stage. */
  failures = 0;
  readonly #asked: ModelRequest;
  readonly #call: FollowedCall | null;
  /** When it joined its first queue under this policy and the one of its stage, in engine seconds; undefined until it has. */
  #arrivalSeconds: number | undefined;
  #queuedSinceSeconds: number | undefined;
  #expected: Expected = {};
  #forecast: AgentForecast | undefined;

  /** @param call null where it is not followed: then its program began when it joined its first queue. */
  constructor(asked: ModelRequest, call: FollowedCall | null) {
    this.#asked = asked;
    this.#call = call;
  }

  /** Goes to a stage, whose answer is expected to be so long. */
  enter(stage: number, expected: Expected, forecast: AgentForecast | undefined): void {
    this.stage = stage;
    this.#expected = expected;
    this.#forecast = forecast;
    this.failures = 0;
    this.#queuedSinceSeconds = undefined;
  }

  /** An engine was found for it. */
  dispatched({ queuedSeconds }: { readonly queuedSeconds: number }): void {
    this.#queuedSinceSeconds = queuedSeconds;
    this.#arrivalSeconds ??= queuedSeconds;
  }

  /** Stands under a policy that has not seen it. */
  beginAnew(): void {
    this.#arrivalSeconds = undefined;
  }

  /** As a policy sees it. */
  work(): Work {
    const { decisionId, programId, inputTokens } = this.#asked;
    return {
      id: decisionId,
      programId,
      stage: this.stage,
      programArrivalSeconds: this.#call?.programStartSeconds ?? this.#arrivalSeconds,
      queuedSinceSeconds: this.#queuedSinceSeconds,
      inputTokens,
      predictedTokens: this.#expected.predictedTokens,
      predictedProgramTokens: this.#expected.predictedProgramTokens,
      forecast: this.#forecast,
    };
  }
}
