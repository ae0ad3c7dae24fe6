import type { LabSystem } from "@/solver/lab/labSpec";
import { selectionOf } from "@/solver/policies/justInTime/justInTimeDocument";
import cases from "./cases.json" with { type: "json" };
import {
  ALONE,
  beam,
  fcfs,
  JOINT,
  jointSystems,
  kairos,
  learnt,
  leastLoad,
  orLarger,
  type Parts,
  systemOver,
  ungated,
  worthOf,
} from "./systems";

export const ALL_TERMS = "all terms";

/** What the policy with all terms is without one of them, by the system that is that. */
export const LEFT_OUT = {
  "worth: throughput instead": "all terms but worth",
  "others' delay": "all terms but others' delay",
  "the plan's price of tokens": "all terms but the price",
  "what a right answer is worth": "all terms but rightness",
  "larger models for single requests": "all terms but larger models",
  "the cascade: one model": "all terms but the cascade",
  "accurate configurations: the largest models": "all terms but configurations",
  "scores of agents' answers": "all terms but agents' scores",
  "skipped aggregators": "all terms but skipped aggregators",
  "the order of workflows": "all terms but the order",
  "time slots": "all terms but time slots",
  "predicted lengths": "all terms but lengths",
} as const;

/**
 * Every term of the joint policy at once, with heads learnt from other prompts in place of oracles; the same without each term in turn; and
 * the joint policy and the systems alone as they are elsewhere, with learnt heads where they choose among configurations.
 */
export function allTermsSystems(parts: Parts): readonly LabSystem[] {
  const { policy, scored, cascade, model, loads } = parts;
  const system = systemOver(parts, "learnt");
  const priced = (weights: Partial<ReturnType<typeof weightsOf>> = {}) =>
    selectionOf({ ...weightsOf(), ...weights, priced: true }, policy.models, loads);
  const singles = orLarger(cascade, policy);
  const unscored = { selection: priced(), singles, ...kairos };
  const all = { ...unscored, workflows: scored.workflows, callGates: scored.callGates };
  const without = (name: keyof typeof LEFT_OUT, but: Partial<typeof policy>, more: Partial<LabSystem> = {}): LabSystem =>
    system(LEFT_OUT[name], { ...all, ...but }, { ...learnt, ...more });
  const elsewhere = jointSystems(parts).filter(({ name }) => [JOINT, ...ALONE].some((own) => own === name));
  return [
    system(ALL_TERMS, all, learnt),
    without("worth: throughput instead", { selection: beam }, { lengths: "none", confidence: "none" }),
    without("others' delay", { selection: priced({ delayWeight: 0 }) }),
    without("the plan's price of tokens", { selection: weightsOf() }),
    without("what a right answer is worth", { selection: priced({ rightSeconds: 0 }) }),
    without("larger models for single requests", { singles: cascade }),
    without("the cascade: one model", { singles: model }),
    // Without configurations there are none for scores to change.
    system(LEFT_OUT["accurate configurations: the largest models"], unscored, { ...learnt, configurations: "none" }),
    system(LEFT_OUT["scores of agents' answers"], unscored, learnt),
    without("skipped aggregators", {}, ungated),
    without("the order of workflows", { order: fcfs }),
    without("time slots", { place: leastLoad }),
    without("predicted lengths", {}, { lengths: "none" }),
    ...elsewhere.map((own) => (own.configurations === "oracle" ? { ...own, configurations: "learnt" as const } : own)),
  ];
}

const weightsOf = () => ({ ...worthOf(cases.delayWeight), rightSeconds: cases.allTerms.rightSeconds });
