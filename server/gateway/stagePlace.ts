import type { AgentForecast, WaitingWork, WorkflowCall } from "@/solver/policies/policy";
import { callOf, type ModelRequest } from "./modelRequest";
import type { Work } from "./waitingEntry";
import type { FollowedCall } from "./workflowBook";

type Expected = Pick<WaitingWork, "predictedTokens" | "predictedProgramTokens">;

/** Where a request stands in its policy. */
export class StagePlace {
  /** 0 for the first. */
  stage = 0;
  /** The one that it entered, and waits for again when an engine fails it. */
  entered = 0;
  /** Engines that failed it since. */
  failures = 0;
  /** Stages that failed it as often as they are tried. */
  readonly #failed: number[] = [];
  /** Stages whose answer is kept although it was sent on. */
  readonly #answered: number[] = [];
  /** Configurations of its workflow that are held to be accurate, where that was said of it. */
  accurate: Uint32Array | undefined;
  readonly #workflowCall: WorkflowCall | undefined;
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
    this.#workflowCall = callOf(asked);
    this.#call = call;
  }

  /** Enters a stage, whose queue it joins anew. */
  enter(stage: number): void {
    this.stage = stage;
    this.entered = stage;
    this.failures = 0;
    this.#queuedSinceSeconds = undefined;
  }

  /** Its stage was tried as often as any is. */
  giveUpStage(): void {
    this.#failed.push(this.stage);
    this.failures = 0;
  }

  /** The answer of its stage is kept. */
  keepAnswer(): void {
    this.#answered.push(this.stage);
  }

  /** At its stage its answer is expected to be so long, and its agent to go on so. */
  expect(expected: Expected, forecast: AgentForecast | undefined): void {
    this.#expected = expected;
    this.#forecast = forecast;
  }

  /** An engine was found for it. */
  dispatched({ queuedSeconds }: { readonly queuedSeconds: number }): void {
    this.#queuedSinceSeconds = queuedSeconds;
    this.#arrivalSeconds ??= queuedSeconds;
  }

  /** Stands under a policy that has not seen it. */
  beginAnew(): void {
    this.#arrivalSeconds = undefined;
    this.#failed.length = 0;
    this.#answered.length = 0;
  }

  /** As a policy sees it. */
  work(): Work {
    const { decisionId, programKey: programId, inputTokens } = this.#asked;
    return {
      id: decisionId,
      programId,
      stage: this.stage,
      programArrivalSeconds: this.#call?.programStartSeconds ?? this.#arrivalSeconds,
      queuedSinceSeconds: this.#queuedSinceSeconds,
      inputTokens,
      predictedTokens: this.#expected.predictedTokens,
      predictedProgramTokens: this.#expected.predictedProgramTokens,
      call: this.#workflowCall,
      accurate: this.accurate,
      forecast: this.#forecast,
      failedStages: this.#failed.length === 0 ? undefined : this.#failed,
      answeredStages: this.#answered.length === 0 ? undefined : this.#answered,
    };
  }
}
