import type { Action, Start } from "../core/policy";

const skippedText = (skipped: readonly number[] | undefined): string => (skipped?.length ? ` past ${skipped.join(" ")}` : "");

/** Where a request starts, as a record has it. */
export const textOfStart = ({ stage, reason, skipped, wantedReason }: Start): string =>
  `${stage} ${reason}${skippedText(skipped)}${wantedReason === undefined ? "" : ` for ${wantedReason}`}`;

/** A decision as a record has it: everything but the sentence of a refusal. */
export function textOf(action: Action): string {
  switch (action.kind) {
    case "dispatch": {
      const { workId, replicaId, stage, priority, degraded } = action;
      const at = stage === undefined ? "" : ` at ${stage}`;
      return `${workId} to ${replicaId}${at}${priority === undefined ? "" : ` key ${priority}`}${degraded ? ` ${degraded}` : ""}`;
    }
    case "accept":
      return `${action.workId} accept ${action.reason}${skippedText(action.skipped)}`;
    case "refuse":
      return `${action.workId} refuse ${action.cause}`;
    default:
      return `${action.workId} ${action.kind} to ${action.stage} ${action.reason}${skippedText(action.skipped)}`;
  }
}
