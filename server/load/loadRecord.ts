import { quantile } from "@/solver/numeric/quantile";

/** What became of the requests of one load run. Seconds are engine seconds. */
export class LoadRecord {
  readonly #latencySeconds: number[] = [];
  readonly #lateSeconds: number[] = [];
  readonly #failures = new Map<string, number>();
  #labelSum = 0;
  #labels = 0;
  sent = 0;
  failed = 0;

  get finished(): number {
    return this.#latencySeconds.length;
  }

  get inFlight(): number {
    return this.sent - this.finished - this.failed;
  }

  sentLate(seconds: number): void {
    this.sent += 1;
    this.#lateSeconds.push(seconds);
  }

  /** `label` is the quality of the answer where it is known. */
  answered(latencySeconds: number, label: number | undefined): void {
    this.#latencySeconds.push(latencySeconds);
    if (label === undefined) return;
    this.#labels += 1;
    this.#labelSum += label;
  }

  failure(reason: string): void {
    this.failed += 1;
    this.#failures.set(reason, (this.#failures.get(reason) ?? 0) + 1);
  }

  /** Quantile of the latency of finished requests; null before the first. */
  latency(q: number): number | null {
    return this.finished === 0 ? null : quantile(this.#latencySeconds, q);
  }

  /** Quantile of how much later than scheduled requests were sent. */
  lateness(q: number): number {
    return this.sent === 0 ? 0 : quantile(this.#lateSeconds, q);
  }

  /** Mean label of the answers, null while none is known. */
  get quality(): number | null {
    return this.#labels === 0 ? null : this.#labelSum / this.#labels;
  }

  /** The commonest failure and how often it was seen; null without failures. */
  get worstFailure(): { readonly reason: string; readonly count: number } | null {
    const [worst] = [...this.#failures].sort(([, a], [, b]) => b - a);
    return worst === undefined ? null : { reason: worst[0], count: worst[1] };
  }
}
