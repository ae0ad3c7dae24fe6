import type { Interval } from "@/solver/numeric/interval";
import { secondsText } from "@/solver/wording/wording";
import type { SignalCost } from "./gateSignal";
import type { GateTournament } from "./gateTournament";
import type { RankedGate, Verdict } from "./stageTournament";
import { LEAST_HELD_OUT } from "./tournamentLimits";

interface Judged {
  readonly verdict: Verdict;
  readonly gates: readonly Pick<RankedGate, "name" | "modelled">[];
}

/** Why a workload of so many models and prompts has no tournament: a gate decides between two models, on enough held-out prompts. */
export const noTournamentText = ({ models, prompts }: { readonly models: number; readonly prompts: number }): string =>
  models < 2
    ? "A gate decides between two models: this workload has one."
    : `${prompts} prompts are too few: gates are compared on at least ${LEAST_HELD_OUT} held-out prompts.`;

/** Which prompts the figures and the choice of the best gate rest on. */
export const heldOutText = ({ planningPrompts, heldOutPrompts }: Pick<GateTournament, "planningPrompts" | "heldOutPrompts">): string =>
  `Gates calibrated on ${planningPrompts} prompts, measured on ${heldOutPrompts} others; intervals are of 90 %. The cheapest of the best gates is chosen on the first alone, and tested on the others.`;

export const gateName = ({ name, modelled }: Pick<RankedGate, "name" | "modelled">): string => (modelled ? `${name} (modelled)` : name);

/** A figure with its interval: `0.81 (0.79 to 0.83)`. */
export const intervalText = ({ value, low, high }: Interval, digits: number): string =>
  `${value.toFixed(digits)} (${low.toFixed(digits)} to ${high.toFixed(digits)})`;

/** What a gate takes per answer: `312 tokens, 0.30 s`. */
export function costText({ extraTokens, extraSeconds }: SignalCost): string {
  const tokens = extraTokens === null ? "tokens not known" : `${Math.round(extraTokens)} tokens`;
  const seconds = extraSeconds === null ? "time not known" : secondsText(extraSeconds);
  return extraTokens === 0 && extraSeconds === 0 ? "nothing" : `${tokens}, ${seconds}`;
}

/** Which gate of a stage is better, in a sentence; modelled gates are called so. */
export function verdictText({ verdict, gates }: Judged): string {
  const nameOf = (name: string): string => gateName(gates.find((gate) => gate.name === name) ?? { name, modelled: false });
  switch (verdict.kind) {
    case "no-gates":
      return "No gate has scores here.";
    case "winner":
      return `Best: ${nameOf(verdict.gate)}.`;
    case "no-difference":
      return `No difference is shown between ${[verdict.gate, ...verdict.others].map(nameOf).join(", ")}.`;
    case "not-confirmed":
      return `The choice is not confirmed: ${nameOf(verdict.gate)} was the best on the planning prompts, and on the others it is worse than ${verdict.better.map(nameOf).join(", ")}.`;
  }
}
