import type { ObservedCall } from "./observedCall";

/** A program of which further calls may arrive. */
export interface OpenProgram {
  readonly id: string;
  readonly application: string;
  /** It was considered ended before: its calls contribute only their own latency. */
  readonly late: boolean;
  startSeconds: number;
  /** When a call of it last arrived, ended or was cancelled. */
  lastSeconds: number;
  lastAnswerSeconds: number;
  /** By id; null while in flight. */
  readonly calls: Map<string, ObservedCall | null>;
  /** The number of its calls that are included in the count over all programs. */
  counted: number;
  /** When the first call without room arrived; Infinity before. */
  fullSeconds: number;
  /** Calls in flight, including those beyond the bound on calls. */
  underWay: number;
  /** Calls in flight that are beyond the bound. */
  beyond: number;
  failed: boolean;
  /** The end of the program was reported. */
  over: boolean;
}
