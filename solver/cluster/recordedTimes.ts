import { SlotHeap } from "@/solver/collections/slotHeap";
import type { Replica } from "@/solver/engine/replica";
import type { RecordedRequest, RecordedVisit } from "./recordedWorld";

/** When the requests of a recorded run joined, were answered and scored, by the visit that each is at. */
export class RecordedTimes {
  readonly requests: readonly RecordedRequest[];
  private readonly at: Int32Array;

  constructor(requests: readonly RecordedRequest[]) {
    this.requests = requests;
    this.at = new Int32Array(requests.length);
  }

  /** Its current visit, as recorded; undefined: the record has none. */
  visit(request: number): RecordedVisit | undefined {
    return this.requests[request]?.visits[this.at[request] ?? 0];
  }

  /** When it joins the queue of its current visit, not before it is ready. */
  joinsSeconds(request: number, readySeconds: number): number {
    return Math.max(readySeconds, this.visit(request)?.queuedSeconds ?? Number.POSITIVE_INFINITY);
  }

  /** It goes on to its next visit. */
  movesOn(request: number): void {
    this.at[request] = (this.at[request] ?? 0) + 1;
  }
}

/** An engine that answers at recorded times; it never answers a visit that the record lacks. Its memory and its steps are not recorded. */
export function recordedReplica(times: RecordedTimes): Replica {
  const answering = new SlotHeap(times.requests.length);
  let came = 0;
  return {
    enqueue(request, { atSeconds }) {
      const visit = times.visit(request);
      if (visit !== undefined) answering.push(request, Math.max(atSeconds, visit.answeredSeconds), came++);
      return true;
    },
    nextEventSeconds: () => answering.leastKey,
    advanceTo(seconds, onEvent) {
      while (answering.leastKey <= seconds) {
        const answered = answering.leastKey;
        const request = answering.pop();
        // Service counts from the first token, as a driver that sees no batch counts it.
        const first = times.visit(request)?.firstTokenSeconds;
        if (first !== undefined) onEvent("admitted", request, first, first);
        onEvent("first-token", request, first ?? answered, first ?? answered);
        onEvent("finished", request, answered, answered);
      }
    },
    abort: (request) => answering.remove(request),
    enteredSeconds: () => Number.POSITIVE_INFINITY,
    generatedTokens: () => 0,
    stepsSoFar: null,
    ...{ running: 0, waiting: 0, kvTokensUsed: 0, peakKvTokens: 0, busySeconds: 0, preemptions: 0, promotions: 0 },
  };
}
