import type { JustInTimePolicy } from "@/solver/plan/policySchema";
import { type Action, MOST_WEIGHED, type View } from "../core/policy";
import { beamSearch } from "./beamSearch";
import { exhaustiveRound, MOST_TRIED } from "./exhaustiveRound";
import { RoundQueue, type StagedWork } from "./roundQueue";
import type { RoundSearch } from "./roundSearch";
import type { RoundState, Rounds } from "./rounds";

/** How requests get their models in rounds that search over assignments. */
interface Searching extends Pick<JustInTimePolicy, "selection" | "models"> {
  /** Whether requests leave in an order of their own, not in that in which programs began. */
  readonly ordered: boolean;
  /** Whether programs are bound to a configuration before there is room for their requests. */
  readonly binds: boolean;
}

/** Rounds that choose the assignment of models to requests which adds most throughput (Aragog, section 3.2). */
export function searchRounds(
  { ordered, binds, ...chosen }: Searching,
  { engines, calls, log, heldAt, overheld, out, allowed, send }: RoundState,
): Rounds {
  const { search, most } = searchOf(chosen);
  const free = new Int32Array(engines.length);
  let rounds = 0;

  /** Returns whether more may go at once. */
  function holdRound({ waiting, nowSeconds }: View, actions: Action[]): boolean {
    for (const [model, own] of engines.entries()) free[model] = own.free;
    if (free.every((slots) => slots === 0)) return false;
    rounds += 1;
    const mayGo = (one: StagedWork): number => (one.work.searching === true ? 0 : allowed(one) & ~(heldAt(one) | overheld()));
    const queue = new RoundQueue({ waiting, ordered, round: rounds, out: out(), staged: (work) => calls.of(work), allowed: mayGo });
    const models = engines.map((own) => own.view());
    const mostTokensPerSecond = engines.reduce((sum, own) => sum + own.mostTokensPerSecond, 0);
    const assignments = search({ free, gain: (model, requests) => engines[model]?.gain(requests) ?? 0, next: (open) => queue.next(open) });
    const { given, looked } = queue;
    if (looked > 0) log.note({ nowSeconds, looked, models, requests: given, mostTokensPerSecond, assignments });
    let [passedOver, notSent] = [0, 0];
    for (const [at, one] of given.entries()) {
      const model = assignments[0]?.choices[at] ?? -1;
      const own = engines[model];
      if (own === undefined) passedOver += 1;
      else if (own.free === 0 || (overheld() & (1 << model)) !== 0 || !send(one, model, nowSeconds, actions)) notSent += 1;
    }
    // What the place held back may fit at another model, and left a slot to others. The first of a round is sent or held back: rounds end.
    // A request that another request of its program has just excluded from its bound model is bound again.
    const bindsNow = passedOver > 0 && binds;
    return given.length > 0 && (queue.deferred || bindsNow || notSent > 0 || given.length === most);
  }

  return (view, actions) => {
    while (holdRound(view, actions));
  };
}

/** The search of a round, and the number of requests it compares. Where each request has one model the oldest that may go is best. */
function searchOf({ selection, models }: Pick<Searching, "selection" | "models">): { readonly search: RoundSearch; readonly most: number } {
  if (selection.kind === "exhaustive") return { search: exhaustiveRound, most: MOST_TRIED };
  return { search: beamSearch(selection.kind === "beam" ? selection.width : 1, models.length), most: MOST_WEIGHED };
}
