import { type Decision, isUnjudged } from "@/server/contracts/gateway/gatewayAdmin";
import type { DecisionFilter } from "@/server/contracts/studio";

const isAnswered = ({ status }: Decision): boolean => status < 400;

const outcomes: Readonly<Record<DecisionFilter["outcome"], (decision: Decision) => boolean>> = {
  any: () => true,
  answered: isAnswered,
  failed: (decision) => !isAnswered(decision),
  escalated: ({ stages }) => stages.some(({ verdict }) => verdict === "escalated"),
  unjudged: ({ stages }) => stages.some(isUnjudged),
};

/** Whether a record is among those that an operator wants to see. Text is looked for in any case of its letters. */
export function passes(decision: Decision, { outcome, model, replica, slowerThanSeconds, text }: DecisionFilter): boolean {
  const { id, program = "", stages, endToEndSeconds } = decision;
  const looked = text?.toLowerCase() ?? "";
  return (
    outcomes[outcome](decision) &&
    (model === null || stages.some((stage) => stage.model === model)) &&
    (replica === null || stages.some((stage) => stage.replica === replica)) &&
    (slowerThanSeconds === null || endToEndSeconds > slowerThanSeconds) &&
    (looked === "" || id.toLowerCase().includes(looked) || program.toLowerCase().includes(looked))
  );
}
