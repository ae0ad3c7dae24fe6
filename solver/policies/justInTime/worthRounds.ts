import type { JustInTimePolicy } from "@/solver/plan/policySchema";
import { countInBoth, countOf } from "@/solver/workflow/configurationSet";
import { MOST_HELD, MOST_WEIGHED } from "../core/policy";
import type { StagedWork } from "./roundQueue";
import type { RoundSingles } from "./roundSingles";
import type { RoundState, Rounds } from "./rounds";
import { WorthChoice, type WorthWeights } from "./worthChoice";

/** How requests get their models by worth. */
interface Weighing {
  readonly document: Pick<JustInTimePolicy, "models" | "singles">;
  readonly weights: WorthWeights;
  readonly singles: RoundSingles | null;
}

/**
 * Rounds in which requests, one after another, get their model of highest worth (`worth.ts`), or wait for it. At most `MOST_WEIGHED` of them
 * are weighed, and none after the last free slot is taken.
 */
export function worthRounds(
  { document, weights, singles }: Weighing,
  { engines, calls, log, heldNow, out, allowed, send }: RoundState,
): Rounds {
  const meanOutputTokens = document.models.map(({ meanOutputTokens: own = 1 }) => own);
  const slack = document.singles?.kind === "slack" ? document.singles : null;
  const choice = new WorthChoice({ engines, meanOutputTokens, weights, singles, slack });
  const isFull = (): boolean => engines.every((own) => own.free === 0);
  return ({ waiting, nowSeconds }, actions) => {
    if (isFull()) return;
    choice.begin();
    const before = engines.map((own) => own.view());
    const mostTokensPerSecond = engines.reduce((sum, own) => sum + own.mostTokensPerSecond, 0);
    const requests: StagedWork[] = [];
    const choices: number[] = [];
    let [gain, kept, given] = [0, 0, 0];
    for (const work of waiting) {
      if (requests.length === MOST_WEIGHED || heldNow.size >= MOST_HELD || isFull()) break;
      if (work.state.kind !== "queued" || work.searching === true) continue;
      const one = calls.of(work);
      if (one.gone) continue;
      const may = one.program === null && singles !== null ? singles.candidates(work) & ~out() : allowed(one);
      const model = choice.choose(one, may, out());
      if (model < 0) continue;
      const own = engines[model];
      const added = own === undefined || own.free === 0 ? 0 : own.gain(1);
      const share = keptShare(one, model, out());
      const sent = own !== undefined && own.free > 0 && send(one, model, nowSeconds, actions);
      requests.push(one);
      choices.push(sent ? model : -1);
      if (!sent) {
        choice.waits(model);
        continue;
      }
      choice.changed(model);
      gain += added;
      kept += share;
      given += 1;
    }
    if (requests.length === 0) return;
    const assignments = [{ gain, flexibility: given === 0 ? 1 : kept / given, choices: Int8Array.from(choices) }];
    log.note({ nowSeconds, looked: requests.length, models: before, requests, mostTokensPerSecond, assignments });
  };
}

/** The share of its program's configurations that a request keeps if it gets the model. */
function keptShare({ program, agent }: StagedWork, model: number, out: number): number {
  const left = program?.leftWithout(out);
  const having = program?.workflow.space.having[agent]?.[model];
  return left === undefined || having === undefined ? 1 : countInBoth(left, having) / countOf(left);
}
