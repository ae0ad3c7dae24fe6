import {
  copyDraft,
  type DraftSchedule,
  makespanOf,
  overwriteDraft,
  promptsOn,
  respread,
  sessionsOn,
  setPrompts,
  workersOf,
} from "./draftSchedule";
import { TIME_TOLERANCE } from "./placementContext";

/** Larger sessions are split nearly continuously: whole prompts then hardly matter. */
const MOST_PROMPTS = 16;

/**
 * Shortens a schedule of small sessions, in place: prompts of one expert move off a worker that ends last, and one other expert is split
 * anew around them, until no such pair of changes shortens it. Where prompts are few, splits that are each exact given the others may still
 * be improved together (`settle` changes one at a time).
 */
export function shiftPrompts(draft: DraftSchedule): void {
  while (shiftOnce(draft));
}

function shiftOnce(draft: DraftSchedule): boolean {
  const { experts, workers } = draft.context;
  const before = copyDraft(draft);
  const enoughSeconds = makespanOf(draft) * (1 - TIME_TOLERANCE);
  const from = draft.busySeconds.indexOf(makespanOf(draft));
  for (const place of experts.keys()) {
    const here = promptsOn(before, place, from);
    if (here === 0 || here > MOST_PROMPTS) continue;
    for (let to = 0; to < workers; to += 1) {
      if (to === from || !mayHold(before, place, to)) continue;
      for (let shifted = 1; shifted <= here; shifted += 1)
        for (const other of experts.keys()) {
          if (other === place) continue;
          setPrompts(draft, place, from, here - shifted);
          setPrompts(draft, place, to, promptsOn(before, place, to) + shifted);
          for (const over of workersFor(draft, other, [from, to])) {
            const shiftedDraft = copyDraft(draft);
            respread(draft, other, over);
            if (makespanOf(draft) < enoughSeconds) return true;
            overwriteDraft(draft, shiftedDraft);
          }
          overwriteDraft(draft, before);
        }
    }
  }
  return false;
}

/** Whether a worker has a session of an expert or may get one. */
function mayHold(draft: DraftSchedule, place: number, worker: number): boolean {
  if (promptsOn(draft, place, worker) > 0) return true;
  return hasRoom(draft, worker) && workersOf(draft, place).length < capOf(draft, place);
}

/** Sets of workers over which an expert may be split anew: its own with those of the pair, or where its cap forbids that one of these for the other. */
function workersFor(draft: DraftSchedule, place: number, pair: readonly number[]): readonly (readonly number[])[] {
  const on = workersOf(draft, place);
  const further = pair.filter((worker) => !on.includes(worker) && hasRoom(draft, worker));
  if (on.length + further.length <= capOf(draft, place)) return [[...on, ...further]];
  return [on, ...further.map((worker) => [...on.filter((other) => !pair.includes(other)), worker])];
}

const hasRoom = (draft: DraftSchedule, worker: number): boolean => sessionsOn(draft, worker) < draft.context.sessionsPerWorker;
const capOf = ({ context }: DraftSchedule, place: number): number => context.experts[place]?.cap ?? 1;
