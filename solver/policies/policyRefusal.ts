import type { PolicyDocument } from "../plan/plan";

/** Why no policy can be built from the document, in one sentence with the offending value; null when one can. */
export function policyRefusal(document: PolicyDocument): string | null {
  const { stages, thresholds, approvedRanges, directStart } = document;
  if (stages.length === 0) return "A cascade needs at least one stage.";
  if (thresholds.length !== stages.length - 1) {
    return `A cascade of ${stages.length} stages needs ${stages.length - 1} thresholds, one for each stage but the last; found ${thresholds.length}.`;
  }
  const names = stages.map((stage) => stage.model);
  const repeated = names.find((model, index) => names.indexOf(model) !== index);
  if (repeated !== undefined) return `${repeated} stands twice in the cascade; each model may serve one stage.`;
  if (approvedRanges.thresholds.length !== thresholds.length) {
    return `Each of the ${thresholds.length} thresholds needs its approved range; found ${approvedRanges.thresholds.length}.`;
  }
  for (const [stage, threshold] of thresholds.entries()) {
    if (!Number.isInteger(threshold) || threshold < 0 || threshold > 100) {
      return `The threshold of stage ${stage + 1} is ${threshold}; it must be an integer from 0 to 100.`;
    }
    const range = approvedRanges.thresholds[stage];
    if (range && (threshold < range.min || threshold > range.max)) {
      return `The threshold of stage ${stage + 1} is ${threshold}, outside its approved range ${range.min} to ${range.max}.`;
    }
  }
  if (directStart !== undefined && !(Number.isInteger(directStart.below) && directStart.below >= 1 && directStart.below <= 100)) {
    return `The direct start is below ${directStart.below}; it must be an integer from 1 to 100.`;
  }
  return null;
}
