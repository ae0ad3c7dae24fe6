import type { JustInTimePolicy, TokenPriceDocument } from "@/solver/plan/policySchema";
import { countInBoth, countOf } from "@/solver/workflow/configurationSet";
import { type Action, MOST_HELD, MOST_WEIGHED, type View } from "../core/policy";
import type { WorthTerms } from "../core/roundsView";
import type { StagedWork } from "./roundQueue";
import type { RoundSingles } from "./roundSingles";
import type { RoundState, Rounds } from "./rounds";
import { TokenPrices } from "./tokenPrices";
import { WorthChoice, type WorthWeights } from "./worthChoice";

/** How requests get their models by worth. */
interface Weighing {
  readonly document: Pick<JustInTimePolicy, "models" | "learnt">;
  readonly weights: WorthWeights & { readonly price?: TokenPriceDocument | undefined };
  readonly singles: RoundSingles | null;
}

/**
 * Rounds in which requests, one after another, get their model of highest worth (`worth.ts`), or wait for it. A round weighs at most
 * `MOST_WEIGHED` of those that some free model may serve, none after the last free slot is taken, and another follows where all of them were sent. As
 * many that no free model may serve make the queues of their models longer; they block none after them.
 */
export function worthRounds(
  { document, weights, singles }: Weighing,
  { engines, calls, log, heldNow, out, allowed, send }: RoundState,
): Rounds {
  const meanOutputTokens = document.models.map(({ meanOutputTokens: own = 1 }) => own);
  const readsLengths = document.learnt?.lengths !== undefined;
  const names = document.models.map(({ model }) => model);
  const prices = weights.price === undefined ? null : new TokenPrices(weights.price, names);
  const choice = new WorthChoice({ engines, meanOutputTokens, weights, singles, prices, readsLengths });
  const openModels = (): number => engines.reduce((bits, { free }, model) => (free > 0 ? bits | (1 << model) : bits), 0);
  /** Returns whether more may go at once. */
  function holdRound({ waiting, nowSeconds }: View, actions: Action[]): boolean {
    let open = openModels();
    if (open === 0) return false;
    choice.begin(nowSeconds);
    const before = engines.map((own) => own.view());
    const mostTokensPerSecond = engines.reduce((sum, own) => sum + own.mostTokensPerSecond, 0);
    const requests: StagedWork[] = [];
    const choices: number[] = [];
    const terms: (WorthTerms | null)[] = [];
    let [looked, barred, gain, kept, given] = [0, 0, 0, 0, 0];
    for (const work of waiting) {
      if (requests.length === MOST_WEIGHED || heldNow.size >= MOST_HELD || open === 0) break;
      if (work.state.kind !== "queued" || work.searching === true) continue;
      const one = calls.of(work);
      if (one.gone) continue;
      looked += 1;
      const may = one.program === null && singles !== null ? singles.candidates(work) & ~out() : allowed(one);
      const isOpen = (may & open) !== 0;
      if (!isOpen && barred === MOST_WEIGHED) continue;
      const model = choice.choose(one, may, out());
      const own = engines[model];
      if (own === undefined) continue;
      if (!isOpen) {
        barred += 1;
        choice.waits(model);
        continue;
      }
      const added = own.free === 0 ? 0 : own.gain(1);
      const share = keptShare(one, model, out());
      const ofModel = choice.terms(one, model, out());
      const sent = own.free > 0 && send(one, model, nowSeconds, actions);
      requests.push(one);
      choices.push(sent ? model : -1);
      terms.push(sent ? ofModel : null);
      if (!sent) {
        choice.waits(model);
        continue;
      }
      choice.changed(model);
      open = openModels();
      gain += added;
      kept += share;
      given += 1;
    }
    prices?.left(nowSeconds, choice.backlog);
    if (looked === 0) return false;
    const assignments = [{ gain, flexibility: given === 0 ? 1 : kept / given, choices: Int8Array.from(choices) }];
    log.note({ nowSeconds, looked, models: before, requests, mostTokensPerSecond, assignments, terms });
    return given === MOST_WEIGHED;
  }

  return (view, actions) => {
    while (holdRound(view, actions));
  };
}

/** The share of its program's configurations that a request keeps if it gets the model. */
function keptShare({ program, agent }: StagedWork, model: number, out: number): number {
  const left = program?.leftWithout(out);
  const having = program?.workflow.space.having[agent]?.[model];
  return left === undefined || having === undefined ? 1 : countInBoth(left, having) / countOf(left);
}
