import type { ModelOutcomes } from "@/solver/workload/workload";
import type { StageOutcome } from "./clusterOutcome";

/** The answers of one stage, in their order. */
export class StageAnswers {
  readonly outcomes: ModelOutcomes;
  private readonly requests: number[] = [];
  private readonly latencies: number[] = [];
  private readonly ttfts: number[] = [];

  /** @param outcomes the outcomes of the stage's model for every prompt. */
  constructor(outcomes: ModelOutcomes) {
    this.outcomes = outcomes;
  }

  note(request: number, { latencySeconds, ttftSeconds }: { readonly latencySeconds: number; readonly ttftSeconds: number }): void {
    this.requests.push(request);
    this.latencies.push(latencySeconds);
    this.ttfts.push(ttftSeconds);
  }

  outcome({ sampleRequests, busyShare }: { readonly sampleRequests: number; readonly busyShare: number }): StageOutcome {
    return {
      model: this.outcomes.model,
      requests: this.requests.length,
      share: this.requests.length / sampleRequests,
      request: Int32Array.from(this.requests),
      latencySeconds: Float64Array.from(this.latencies),
      ttftSeconds: Float64Array.from(this.ttfts),
      busyShare,
    };
  }
}
