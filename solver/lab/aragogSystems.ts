import { type JustInTimePolicy, type PolicyDocument, roundChoices } from "../plan/policySchema";
import type { LabSystem } from "./labSpec";

type Selection = JustInTimePolicy["selection"];

/** Number of partial assignments that Aragog keeps, as its source does. */
export const BEAM_WIDTH = roundChoices.beam.width;

/**
 * Aragog and the systems that its source compares it with, all in the order in which programs began and deeper agents first: per-workflow,
 * per-input, per-input by load at arrival and at every stage, all of them with oracle accuracy, greedy rounds, and Aragog with an oracle's
 * configurations and with learnt ones.
 *
 * @param chosen a policy that declares the workflows of the race, with a selection.
 * @param fixed per-workflow's configuration of each declared workflow, by its name.
 */
export function aragogSystems(
  chosen: (selection: Selection) => PolicyDocument,
  fixed: Extract<Selection, { kind: "fixed" }>["configurations"],
): readonly (LabSystem & { readonly about: string })[] {
  const none = { lengths: "none", confidence: "none" } as const;
  const oracle = { ...none, configurations: "oracle" } as const;
  return [
    {
      name: "Per-workflow",
      policy: chosen({ kind: "fixed", configurations: fixed }),
      ...none,
      about: "One configuration for all requests of a workflow: the cheapest that is as good as the largest models in the mean.",
    },
    {
      name: "Per-input",
      policy: chosen({ kind: "cheapest" }),
      ...oracle,
      about: "The cheapest configuration that is accurate for the request, fixed when it comes.",
    },
    {
      name: "Per-input+",
      policy: chosen({ kind: "quickest", when: "arrival" }),
      ...oracle,
      about: "The accurate configuration with the least latency under the load at arrival, fixed then.",
    },
    {
      name: "Per-input++",
      policy: chosen({ kind: "quickest", when: "stage" }),
      ...oracle,
      about: "The same, re-chosen at every stage, each request by itself.",
    },
    {
      name: "Greedy rounds",
      policy: chosen({ kind: "beam", width: 1 }),
      ...oracle,
      about: "Aragog's rounds, one request after another: a beam of width 1. Oracle's configurations.",
    },
    {
      name: "Aragog, oracle sets",
      policy: chosen({ kind: "beam", width: BEAM_WIDTH }),
      ...oracle,
      about: `Each stage's model chosen when an engine has room, over all waiting requests, by a beam of width ${BEAM_WIDTH}, among the configurations that are truly accurate.`,
    },
    {
      name: "Aragog",
      policy: chosen({ kind: "beam", width: BEAM_WIDTH }),
      ...none,
      configurations: "learnt",
      about: `The same among the configurations that heads, trained for the run, hold to be accurate.`,
    },
  ];
}
