import type { OutgoingHttpHeaders } from "node:http";
import type { Decision, StageRecord } from "@/server/contracts/gatewayAdmin";
import type { ServedModel } from "./servedModel";

interface JournalStart {
  readonly requestId: string;
  readonly decisionId: string;
  readonly startedMs: number;
}

interface AnsweredBy {
  /** 0 for the first. */
  readonly stage: number;
  readonly model: string;
  /** What the engine that is still streaming has taken so far. */
  readonly pendingMs: number;
}

/** Notes what happens to one request, for its response headers and its decision record. Holds no prompt and no answer. */
export class RequestJournal {
  readonly #start: JournalStart;
  readonly stages: StageRecord[] = [];
  /** Wall milliseconds that were not the gateway's own: queues, engines, judge. */
  queueMs = 0;
  engineMs = 0;
  judgeMs = 0;
  escalations = 0;
  judgedScore: number | null = null;
  firstTokenMs: number | null = null;
  /** Why the request started at the stage it did; null until it has. */
  startReason: string | null = null;
  /** What the gateway itself says where it gives no engine's answer. */
  reason = "";

  constructor(start: JournalStart) {
    this.#start = start;
  }

  /**
   * The decision headers for an answer, as far as known when the headers leave; `x-weir-stage` counts from 1. Milliseconds
   * are engine milliseconds; the overhead is what the gateway itself took so far.
   */
  headers(served: ServedModel, { stage, model, pendingMs }: AnsweredBy): OutgoingHttpHeaders {
    const overheadMs = Math.max(0, performance.now() - this.#start.startedMs - this.queueMs - this.engineMs - this.judgeMs - pendingMs);
    const headers: OutgoingHttpHeaders = {
      "x-request-id": this.#start.requestId,
      "x-weir-model": model,
      "x-weir-policy": served.policyHash,
      "x-weir-stage": stage + 1,
      "x-weir-escalations": this.escalations,
      "x-weir-queue-ms": (this.queueMs * served.timeScale).toFixed(2),
      "x-weir-overhead-ms": (overheadMs * served.timeScale).toFixed(2),
      "x-weir-decision-id": this.#start.decisionId,
    };
    if (served.planId !== "") headers["x-weir-plan"] = served.planId;
    if (this.judgedScore !== null) headers["x-weir-judge-score"] = this.judgedScore;
    return headers;
  }

  /** The record of the finished request. */
  decision(served: ServedModel, status: number): Omit<Decision, "sequence"> {
    const endToEndMs = performance.now() - this.#start.startedMs;
    const overheadMs = Math.max(0, endToEndMs - this.queueMs - this.engineMs - this.judgeMs);
    return {
      id: this.#start.decisionId,
      planId: served.planId,
      policyHash: served.policyHash,
      finishedAtMs: Date.now(),
      status,
      reason: this.reason,
      ...(this.startReason === null ? {} : { startReason: this.startReason }),
      stages: this.stages,
      ttftSeconds: this.firstTokenMs === null ? null : ((this.firstTokenMs - this.#start.startedMs) / 1000) * served.timeScale,
      endToEndSeconds: (endToEndMs / 1000) * served.timeScale,
      overheadSeconds: (overheadMs / 1000) * served.timeScale,
    };
  }
}
