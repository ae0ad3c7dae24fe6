import type { KernelProfile, ProfileErrors, ServingMetric } from "../hardware/engineProfile";
import { mean } from "../numeric/quantile";
import { type FitOptions, type FitProfile, fitProfile } from "./fitProfile";
import { profileErrors } from "./servingErrors";
import type { ServingRow } from "./servingRow";

type Fitted = Extract<FitProfile, { outcome: "fitted" }>;

/** Which of two fits was selected, and why: host and link terms only, or kernel efficiencies too. */
export interface FitChoice {
  readonly kind: /** It was said which. */
    | "asked"
    /** Its error on held-out rows is smaller. */
    | "smaller-error"
    /** Both errors are equal within `SAME_ERROR`: the fit with fewer terms. */
    | "same-error"
    /** No row could be held out: the fit with fewer terms. */
    | "nothing-kept-aside"
    /** The other fit was refused. */
    | "other-refused";
  /** Whether the selected fit includes efficiencies. */
  readonly efficiencies: boolean;
  /** Errors of both fits on the rows that both held out; null where only one was made, or none was held out. */
  readonly errors: { readonly hostTerms: ProfileErrors; readonly withEfficiencies: ProfileErrors } | null;
  /** Why the other fit was refused; null where it was not, or was not requested. */
  readonly refusal: string | null;
  /** Whether TTFT was left out of the fit, and so of the selection. */
  readonly tpotOnly: boolean;
}

export type ChosenFit = (Fitted & { readonly choice: FitChoice }) | Extract<FitProfile, { outcome: "refused" }>;

export interface ChooseOptions extends Omit<FitOptions, "efficiencies"> {
  /** Whether kernel efficiencies are fitted in addition to host and link terms; null: selected by the error on held-out rows. */
  readonly efficiencies: boolean | null;
}

/** Errors that differ by less count as equal: half a percentage point. */
const SAME_ERROR = 0.005;

/**
 * Fits a profile to measured runs, with or without kernel efficiencies, whichever predicts held-out rows better.
 * Deterministic: rows are held out by their lengths, or by requests in flight where all have the same lengths.
 *
 * @returns refused, with the reason, where no fit can be made; the reason is that of the fit with fewer terms.
 */
export function chooseFit(rows: readonly ServingRow[], base: KernelProfile, { efficiencies, ...options }: ChooseOptions): ChosenFit {
  const { tpotOnly = false } = options;
  const choice = (kind: FitChoice["kind"], taken: boolean, more: Partial<FitChoice> = {}): { readonly choice: FitChoice } => ({
    choice: { kind, efficiencies: taken, errors: null, refusal: null, tpotOnly, ...more },
  });
  const fit = (withEfficiencies: boolean): FitProfile => fitProfile(rows, base, { ...options, efficiencies: withEfficiencies });
  if (efficiencies !== null) {
    const asked = fit(efficiencies);
    return asked.outcome === "refused" ? asked : { ...asked, ...choice("asked", efficiencies) };
  }
  const [hostTerms, more] = [fit(false), fit(true)];
  if (hostTerms.outcome === "refused")
    return more.outcome === "refused" ? hostTerms : { ...more, ...choice("other-refused", true, { refusal: hostTerms.reason }) };
  if (more.outcome === "refused") return { ...hostTerms, ...choice("other-refused", false, { refusal: more.reason }) };
  const errors = errorsOnSameRows(hostTerms, more);
  if (errors === null) return { ...hostTerms, ...choice("nothing-kept-aside", false) };
  const gain = choiceError(errors.hostTerms, tpotOnly) - choiceError(errors.withEfficiencies, tpotOnly);
  if (Math.abs(gain) < SAME_ERROR) return { ...hostTerms, ...choice("same-error", false, { errors }) };
  const isMoreBetter = gain > 0;
  return { ...(isMoreBetter ? more : hostTerms), ...choice("smaller-error", isMoreBetter, { errors }) };
}

/** The selection error: the mean of the mean errors of TTFT, TPOT and end to end, as far as measured; that of TPOT alone without TTFT. */
export function choiceError(errors: ProfileErrors, tpotOnly: boolean): number {
  const metrics: readonly ServingMetric[] = tpotOnly ? ["tpot"] : ["ttft", "tpot", "endToEnd"];
  return mean(metrics.filter((metric) => errors[metric].rows > 0).map((metric) => errors[metric].meanAbsolute));
}

/** Why a fit was selected, in a sentence. */
export function choiceText({ kind, efficiencies, errors, refusal, tpotOnly }: FitChoice): string {
  const taken = efficiencies
    ? "Efficiencies of kernels are fitted too"
    : "Only host and link terms are fitted, not the efficiencies of kernels";
  const percent = (of: ProfileErrors): string => `${(100 * choiceError(of, tpotOnly)).toFixed(1)} %`;
  const both =
    errors === null
      ? ""
      : `${percent(errors.withEfficiencies)} with efficiencies and ${percent(errors.hostTerms)} without (${tpotOnly ? "TPOT" : "mean over TTFT, TPOT and end to end"})`;
  switch (kind) {
    case "asked":
      return `${taken}, as asked.`;
    case "smaller-error":
      return `${taken}: on rows kept aside the error is ${both}.`;
    case "same-error":
      return `${taken}: on rows kept aside the error is the same within ${100 * SAME_ERROR} points, ${both}, and the fit with fewer terms is taken.`;
    case "nothing-kept-aside":
      return `${taken}: all rows are of one run, so none could be kept aside to compare by.`;
    case "other-refused":
      return `${taken}, as the fit ${efficiencies ? "without" : "with"} them is refused: ${refusal}`;
  }
}

/** Errors of both fits on the rows that both held out; null where there are none. */
function errorsOnSameRows(hostTerms: Fitted, more: Fitted): FitChoice["errors"] {
  const lines = new Set(hostTerms.keptAside?.rows.map(({ line }) => line));
  const common = new Set(more.keptAside?.rows.map(({ line }) => line).filter((line) => lines.has(line)));
  if (common.size === 0) return null;
  const errorsOf = ({ keptAside }: Fitted): ProfileErrors => profileErrors(keptAside?.rows.filter(({ line }) => common.has(line)) ?? []);
  return { hostTerms: errorsOf(hostTerms), withEfficiencies: errorsOf(more) };
}
