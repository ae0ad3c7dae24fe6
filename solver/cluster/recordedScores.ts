import { SlotHeap } from "@/solver/collections/slotHeap";
import type { ProgramScores } from "./answerScores";
import type { RecordedTimes } from "./recordedTimes";

/** Scores that answers had in a record, when they had them. */
export function recordedScores(times: RecordedTimes): ProgramScores {
  const judging = new SlotHeap(times.requests.length);
  const escalated = new SlotHeap(times.requests.length);
  let came = 0;
  const judge = (request: number, { nowSeconds }: { readonly nowSeconds: number }): void => {
    const seconds = times.visit(request)?.judgedSeconds ?? null;
    if (seconds !== null) judging.push(request, Math.max(nowSeconds, seconds), came++);
  };
  const score = (request: number): number | null => times.visit(request)?.judgedScore ?? null;
  return {
    nextSeconds: () => Math.min(judging.leastKey, escalated.leastKey),
    judge,
    readCall: judge,
    takeJudged: (now) => (judging.leastKey <= now ? judging.pop() : null),
    of: score,
    ofCall: score,
    escalate(request, now) {
      times.movesOn(request);
      escalated.push(request, times.joinsSeconds(request, now), came++);
    },
    takeEscalated: (now) => (escalated.leastKey <= now ? escalated.pop() : undefined),
  };
}
