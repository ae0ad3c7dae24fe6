import type { Sample } from "./liveFrame";

export interface LoadStatus {
  readonly state: "idle" | "running" | "done" | "failed";
  readonly id: string | null;
  readonly workloadName: string;
  readonly requestsPerSecond: number;
  /** Requested and elapsed engine seconds. */
  readonly seconds: number;
  readonly elapsedSeconds: number;
  readonly sent: number;
  readonly finished: number;
  readonly failed: number;
  readonly p50Seconds: Sample;
  readonly p95Seconds: Sample;
  /** Mean label of the returned answers, known only for held-out prompts of an emulated cluster. */
  readonly quality: Sample;
  readonly error: string | null;
  /** Caveats about the figures: a driver that lagged or was itself the limit, failed requests. */
  readonly notes?: readonly string[];
}
