/** KV cache in use during a stretch of time. */
export interface KvBin {
  readonly fromSeconds: number;
  readonly toSeconds: number;
  /** Mean over time, including idle time with nothing in use. */
  readonly meanTokens: number;
  readonly peakTokens: number;
}

const MOST_BINS = 200;

/** Initial width of a bin. It doubles as often as the run needs, so that the bins of one run are equally wide. */
const FIRST_WIDTH_SECONDS = 2 ** -10;

/** KV cache in use over a run of any length, in at most 200 bins of equal width. */
export class KvUse {
  private readonly tokenSeconds = new Float64Array(MOST_BINS);
  private readonly peaks = new Float64Array(MOST_BINS);
  private widthSeconds = FIRST_WIDTH_SECONDS;

  constructor(private readonly startSeconds: number) {}

  /** Adds a run of steps over which the tokens in use grow linearly: exact where its steps are equally long. */
  add(fromSeconds: number, toSeconds: number, firstTokens: number, lastTokens: number): void {
    while (toSeconds > this.edge(MOST_BINS)) this.mergePairs();
    const growthPerSecond = (lastTokens - firstTokens) / (toSeconds - fromSeconds);
    let at = fromSeconds;
    let tokens = firstTokens;
    for (let bin = this.binOf(fromSeconds); at < toSeconds; bin++) {
      const until = Math.min(toSeconds, this.edge(bin + 1));
      const tokensThen = until === toSeconds ? lastTokens : firstTokens + growthPerSecond * (until - fromSeconds);
      this.tokenSeconds[bin] = (this.tokenSeconds[bin] ?? 0) + (until - at) * ((tokens + tokensThen) / 2);
      this.peaks[bin] = Math.max(this.peaks[bin] ?? 0, tokensThen);
      at = until;
      tokens = tokensThen;
    }
  }

  /** The bins up to the end of the run; the last bin is cut at the end. */
  bins(endSeconds: number): KvBin[] {
    const bins: KvBin[] = [];
    for (let bin = 0; bin < MOST_BINS && this.edge(bin) < endSeconds; bin++) {
      const fromSeconds = this.edge(bin);
      const toSeconds = Math.min(endSeconds, this.edge(bin + 1));
      const meanTokens = (this.tokenSeconds[bin] ?? 0) / (toSeconds - fromSeconds);
      bins.push({ fromSeconds, toSeconds, meanTokens, peakTokens: this.peaks[bin] ?? 0 });
    }
    return bins;
  }

  private edge(bin: number): number {
    return this.startSeconds + bin * this.widthSeconds;
  }

  private binOf(seconds: number): number {
    const bin = Math.floor((seconds - this.startSeconds) / this.widthSeconds);
    // The quotient and the edges may be rounded differently.
    return this.edge(bin + 1) <= seconds ? bin + 1 : bin;
  }

  private mergePairs(): void {
    for (let bin = 0; bin < MOST_BINS; bin++) {
      const [left, right] = [2 * bin, 2 * bin + 1];
      this.tokenSeconds[bin] = (this.tokenSeconds[left] ?? 0) + (this.tokenSeconds[right] ?? 0);
      this.peaks[bin] = Math.max(this.peaks[left] ?? 0, this.peaks[right] ?? 0);
    }
    this.widthSeconds *= 2;
  }
}
