import type { LiveKnob } from "./prepareKnobs";
import type { SlackControl } from "./prepareSlack";

/**
 * Why the chosen values cannot be set on the running cluster, in sentences; null if they can.
 * @param slack with the chosen setting; null: there is none.
 */
export function beyondSays(knobs: readonly LiveKnob[], slack: Pick<SlackControl, "chosen" | "exact"> | null): string | null {
  const outside = knobs.filter(({ value, min, max }) => value < min || value > max);
  const needs = "This needs a new plan, which may have other replicas.";
  if (outside.length > 0) {
    const each = outside.map(({ label, value, min, max }) => `${label} ${value} is outside its approved range, ${min} to ${max}.`);
    return [needs, ...each].join(" ");
  }
  return slack === null || !slack.exact || slack.chosen.approved
    ? null
    : `${needs} ${slack.chosen.label} was not approved with the plan in force.`;
}
