import type { WaitingWork } from "@/solver/policies/policy";
import type { ModelRequest } from "./modelRequest";
import type { Work } from "./policyDriver";

type Expected = Pick<WaitingWork, "predictedTokens" | "predictedProgramTokens">;

/** Where a request stands in its policy. */
export class StagePlace {
  /** 0 for the first. */
  stage = 0;
  /** Engines that failed it at this stage. */
  failures = 0;
  readonly #asked: ModelRequest;
  /** When it joined its first queue under this policy and the one of its stage, in engine seconds; undefined until it has. */
  #arrivalSeconds: number | undefined;
  #queuedSinceSeconds: number | undefined;
  #expected: Expected = {};

  constructor(asked: ModelRequest) {
    this.#asked = asked;
  }

  /** Goes to a stage, whose answer is expected to be so long. */
  enter(stage: number, expected: Expected): void {
    this.stage = stage;
    this.#expected = expected;
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
      programArrivalSeconds: this.#arrivalSeconds,
      queuedSinceSeconds: this.#queuedSinceSeconds,
      inputTokens,
      predictedTokens: this.#expected.predictedTokens,
      predictedProgramTokens: this.#expected.predictedProgramTokens,
    };
  }
}
