import type { ReplicaEventKind, StepRun } from "@/solver/engine/replica";
import type { EngineObserver } from "./replicaClock";
import { StepHistogram } from "./stepHistogram";
import { STEP_BUCKETS, TOKEN_BUCKETS } from "./vllmBuckets";

interface StepCountsOptions {
  /** Prompt tokens of a request that has its first token. */
  readonly inputTokens: (handle: number) => number;
  /** Tokens of a request inside the engine. */
  readonly generatedTokens: (handle: number) => number;
}

/** The tokens of a sequence that was preempted after its first one: how many it has, and since when it waits for the next. */
interface Interrupted {
  readonly tokens: number;
  readonly sinceSeconds: number;
}

/**
 * vLLM's figures of single steps, in engine seconds: every gap between two tokens of a sequence, and the tokens of every step. As in vLLM a
 * prompt counts at the step that makes its first token, a step without tokens counts nowhere, and no token of a request whose client has
 * left counts.
 */
export class StepCounts implements EngineObserver {
  private readonly gaps = new StepHistogram(TOKEN_BUCKETS);
  private readonly stepTokens = new StepHistogram(STEP_BUCKETS);
  /** Sequences that gain a token at each step. */
  private readonly decoding = new Set<number>();
  private readonly interrupted = new Map<number, Interrupted>();
  /** Of the current run's last step: tokens of sequences that do not decode in it, with their prompts, and sequences aborted in it. */
  private otherTokens = 0;
  private aborting = 0;

  constructor(private readonly options: StepCountsOptions) {}

  event(kind: ReplicaEventKind, handle: number, seconds: number): void {
    if (kind === "first-token") {
      this.otherTokens += 1 + this.options.inputTokens(handle);
      this.decoding.add(handle);
    }
    if (kind === "finished" && !this.decoding.delete(handle)) this.resume(handle, seconds);
    if (kind === "preempted" && this.decoding.delete(handle))
      this.interrupted.set(handle, { tokens: this.options.generatedTokens(handle), sinceSeconds: seconds });
  }

  ran({ toSeconds, steps, firstSeconds, growthSeconds, decoding }: StepRun): void {
    for (const [handle, { tokens }] of this.interrupted) {
      if (this.options.generatedTokens(handle) === tokens) continue;
      this.resume(handle, toSeconds);
      this.decoding.add(handle);
    }
    const lastDecoding = decoding - this.aborting;
    const lastTokens = lastDecoding + this.otherTokens;
    this.gaps.add(firstSeconds, decoding, steps - 1, growthSeconds);
    this.gaps.add(firstSeconds + growthSeconds * (steps - 1), lastDecoding);
    this.stepTokens.add(decoding, steps - 1);
    if (lastTokens > 0) this.stepTokens.add(lastTokens, 1);
    this.otherTokens = 0;
    this.aborting = 0;
  }

  aborted(handle: number): void {
    this.interrupted.delete(handle);
    if (this.decoding.delete(handle)) this.aborting += 1;
  }

  /**
   * The metrics with those of a run that has not ended.
   * @param soFar the steps of it that are done; null: none.
   */
  text(model: string, soFar: StepRun | null): string {
    const gaps = this.gaps.copy();
    const stepTokens = this.stepTokens.copy();
    if (soFar !== null) {
      gaps.add(soFar.firstSeconds, soFar.decoding, soFar.steps, soFar.growthSeconds);
      stepTokens.add(soFar.decoding, soFar.steps);
    }
    const labels = `engine="0",model_name=${JSON.stringify(model)}`;
    return [
      gaps.text("vllm:inter_token_latency_seconds", "Histogram of inter-token latency in seconds.", labels),
      stepTokens.text("vllm:iteration_tokens_total", "Histogram of number of tokens per engine_step.", labels),
    ].join("\n");
  }

  /** Counts the token that a preempted sequence gets once it is computed again. */
  private resume(handle: number, seconds: number): void {
    const { sinceSeconds } = this.interrupted.get(handle) ?? {};
    if (sinceSeconds === undefined) return;
    this.interrupted.delete(handle);
    this.gaps.add(seconds - sinceSeconds, 1);
    this.otherTokens += 1;
  }
}
