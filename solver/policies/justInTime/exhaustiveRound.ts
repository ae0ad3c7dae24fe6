import { countInBoth, countOf, intersection } from "@/solver/workflow/configurationSet";
import type { RoundAssignment, RoundRequest, RoundSlots } from "./roundSearch";

/** Number of requests that are assigned together: with three models 6,561 assignments. */
export const MOST_TRIED = 8;

/** Tries every assignment of the first eight requests that may have a slot: the reference for beam search. */
export function exhaustiveRound(round: RoundSlots): readonly RoundAssignment[] {
  const open = round.free.reduce((bits, free, model) => (free > 0 ? bits | (1 << model) : bits), 0);
  const requests: RoundRequest[] = [];
  while (requests.length < MOST_TRIED) {
    const request = open === 0 ? undefined : round.next(open);
    if (request === undefined) break;
    requests.push(request);
  }
  const taken = new Int32Array(round.free.length);
  const choices = new Int8Array(requests.length);
  let best: RoundAssignment = { gain: Number.NEGATIVE_INFINITY, flexibility: 0, choices };

  function weighed(keptShares: number, assigned: number): void {
    const gain = taken.reduce((sum, count, model) => sum + (count === 0 ? 0 : round.gain(model, count)), 0);
    const flexibility = assigned === 0 ? 1 : keptShares / assigned;
    if (gain < best.gain) return;
    if (gain === best.gain && flexibility <= best.flexibility) return;
    best = { gain, flexibility, choices: choices.slice() };
  }

  /** @param before the configurations left to the program of the previous request. */
  function assign(at: number, before: Uint32Array | null, { keptShares, assigned }: { keptShares: number; assigned: number }): void {
    const request = requests[at];
    if (request === undefined) {
      weighed(keptShares, assigned);
      return;
    }
    const left = request.continues ? before : request.left;
    const whole = left === null ? 1 : countOf(left);
    let extended = false;
    for (const [model, free] of round.free.entries()) {
      const having = request.having[model];
      const kept = left === null || having === undefined ? 1 : countInBoth(left, having) / whole;
      if ((request.allowed & (1 << model)) === 0 || kept === 0 || (taken[model] ?? 0) >= free) continue;
      extended = true;
      taken[model] = (taken[model] ?? 0) + 1;
      choices[at] = model;
      const after = left === null || having === undefined || !request.continued ? left : intersection(left, having);
      assign(at + 1, after, { keptShares: keptShares + kept, assigned: assigned + 1 });
      taken[model] = (taken[model] ?? 0) - 1;
    }
    if (extended) return;
    choices[at] = -1;
    assign(at + 1, left, { keptShares, assigned });
  }

  assign(0, null, { keptShares: 0, assigned: 0 });
  return [best];
}
