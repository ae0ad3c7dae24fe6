import type { JustInTimePolicy, TokenPriceDocument } from "@/solver/plan/policySchema";
import { countInBoth, countOf } from "@/solver/workflow/configurationSet";
import { MOST_WEIGHED } from "../core/policy";
import type { WorthTerms } from "../core/roundsView";
import type { StagedWork } from "./roundQueue";
import type { RoundSingles } from "./roundSingles";
import type { RoundState, Rounds } from "./rounds";
import { TokenPrices } from "./tokenPrices";
import { onlyModel, WorthChoice, type WorthWeights } from "./worthChoice";

/** How requests get their models by worth. */
interface Weighing {
  readonly document: Pick<JustInTimePolicy, "models" | "learnt">;
  readonly weights: WorthWeights & { readonly price?: TokenPriceDocument | undefined };
  readonly singles: RoundSingles | null;
}

/** A model's line grows by this share of itself before a request like one that joined it is weighed again, beyond `MOST_WEIGHED`. */
const LINE_GROWTH = 1 / 16;

/**
 * Rounds in which requests, one after another, get their model of highest worth (`worth.ts`), or wait for it. Every request that waits makes
 * the line of its model longer for those after it, and blocks none of them: the round looks at all that wait until no slot is free.
 *
 * **Cost.** Requests that may have one model only are weighed only where it has a free slot. Once `MOST_WEIGHED` weighed requests wait, one that
 * has the same choice of models as an earlier one joins that one's line without being weighed, until that line has grown by `LINE_GROWTH`. So the
 * number weighed is at most `MOST_WEIGHED`, the requests sent and held back, and some `log(waiting) / LINE_GROWTH` for each set of models.
 */
export function worthRounds(
  { document, weights, singles }: Weighing,
  { engines, calls, log, overheld, out, allowed, send }: RoundState,
): Rounds {
  const meanOutputTokens = document.models.map(({ meanOutputTokens: own = 1 }) => own);
  const readsLengths = document.learnt?.lengths !== undefined;
  const names = document.models.map(({ model }) => model);
  const prices = weights.price === undefined ? null : new TokenPrices(weights.price, names);
  const choice = new WorthChoice({ engines, meanOutputTokens, weights, singles, prices, readsLengths });
  const lines = new JoinedLines(engines.length);
  const openModels = (): number => engines.reduce((bits, { free }, model) => (free > 0 ? bits | (1 << model) : bits), 0) & ~overheld();

  return ({ waiting, nowSeconds }, actions) => {
    let open = openModels();
    if (open === 0) return;
    choice.begin(nowSeconds);
    lines.begin();
    const before = engines.map((own) => own.view());
    const mostTokensPerSecond = engines.reduce((sum, own) => sum + own.mostTokensPerSecond, 0);
    const requests: StagedWork[] = [];
    const choices: number[] = [];
    const terms: (WorthTerms | null)[] = [];
    let [looked, gain, kept, given] = [0, 0, 0, 0];

    /** The model that a request joins the line of; -1 where it is sent, or none takes work. */
    function weigh(one: StagedWork, may: number): number {
      let first = -1;
      for (let left = may; ; ) {
        const model = choice.choose(one, left, out());
        const own = engines[model];
        if (first < 0) first = model;
        if (own === undefined) return first;
        if ((open & (1 << model)) === 0) return model;
        const added = own.gain(1);
        const share = keptShare(one, model, out());
        const ofModel = choice.terms(one, model, out());
        const sent = send(one, model, nowSeconds, actions);
        choice.changed(model);
        open = openModels();
        if (sent) {
          requests.push(one);
          choices.push(model);
          terms.push(ofModel);
          gain += added;
          kept += share;
          given += 1;
          return -1;
        }
        // The place holds it back there: another model may have room that it fits into.
        left &= ~(1 << model);
      }
    }

    for (const work of waiting) {
      if (open === 0) break;
      if (work.state.kind !== "queued" || work.searching === true) continue;
      const one = calls.of(work);
      if (one.gone) continue;
      looked += 1;
      const all = one.program === null && singles !== null ? singles.candidates(work) & ~out() : allowed(one);
      const may = all & ~overheld() || all;
      const isOpen = (may & open) !== 0;
      const known = isOpen ? -1 : onlyModel(may);
      const joined = known >= 0 ? known : lines.joinedBy(may, choice.backlog);
      const model = joined >= 0 ? joined : weigh(one, may);
      if (joined < 0) lines.weighed(may, model, choice.backlog);
      if (model < 0) continue;
      choice.waits(model);
      if (!isOpen || joined >= 0) continue;
      requests.push(one);
      choices.push(-1);
      terms.push(null);
    }
    prices?.left(nowSeconds, choice.backlog);
    if (looked === 0) return;
    const assignments = [{ gain, flexibility: given === 0 ? 1 : kept / given, choices: Int8Array.from(choices) }];
    log.note({ nowSeconds, looked, models: before, requests, mostTokensPerSecond, assignments, terms });
  };
}

/** The lines that requests of a round joined, by the set of models that they may have, as bits. */
class JoinedLines {
  /** Weighed requests that wait. */
  private waits = 0;
  /** By set, the model whose line the last weighed request joined, -1 where none did, and the length of line from which one is weighed again. */
  private readonly model: Int8Array;
  private readonly until: Float64Array;

  constructor(models: number) {
    this.model = new Int8Array(1 << models);
    this.until = new Float64Array(1 << models);
  }

  begin(): void {
    this.waits = 0;
    this.model.fill(-1);
  }

  /** The model whose line a request joins without being weighed; -1: it must be weighed. */
  joinedBy(may: number, lengths: ArrayLike<number>): number {
    const model = this.model[may] ?? -1;
    return this.waits >= MOST_WEIGHED && model >= 0 && (lengths[model] ?? 0) < (this.until[may] ?? 0) ? model : -1;
  }

  /** A request was weighed and waits for a model; -1: it does not wait. */
  weighed(may: number, model: number, lengths: ArrayLike<number>): void {
    this.model[may] = model;
    if (model < 0) return;
    this.waits += 1;
    this.until[may] = (1 + LINE_GROWTH) * ((lengths[model] ?? 0) + 1);
  }
}

/** The share of its program's configurations that a request keeps if it gets the model. */
function keptShare({ program, agent }: StagedWork, model: number, out: number): number {
  const left = program?.leftWithout(out);
  const having = program?.workflow.space.having[agent]?.[model];
  return left === undefined || having === undefined ? 1 : countInBoth(left, having) / countOf(left);
}
