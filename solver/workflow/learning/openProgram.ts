import type { ObservedCall } from "./observedCall";

/** A program of which further calls may come. */
export interface OpenProgram {
  readonly id: string;
  readonly application: string;
  /** It was taken to have ended before: its calls teach their own latency and nothing else. */
  readonly late: boolean;
  startSeconds: number;
  /** When a call of it last came, ended or was given up. */
  lastSeconds: number;
  lastAnswerSeconds: number;
  /** By id; null while under way. */
  readonly calls: Map<string, ObservedCall | null>;
  /** Of its calls, as many as are counted among those of all programs. */
  counted: number;
  /** When the first call came for which there was no room; endless before. */
  fullSeconds: number;
  /** Calls under way, those beyond the bound on calls among them. */
  underWay: number;
  /** Calls under way that are beyond the bound. */
  beyond: number;
  failed: boolean;
  /** Somebody has said that no further call comes. */
  over: boolean;
}
