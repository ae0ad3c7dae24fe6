import type { BatchPreview } from "@/server/contracts/studio";
import { formatCounted, formatSeconds } from "../ui/format";
import type { ModelIdentity } from "../ui/modelIdentity";
import { type GanttPicture, linesOfSchedule, prepareGantt } from "./prepareGantt";
import { scheduleNames } from "./scheduleNames";

/** What starting a batch would do, drawn beside the best baseline, and in a sentence. */
export function prepareBatchPreview(
  { schedules, gpus, questions }: BatchPreview,
  identities: ReadonlyMap<string, ModelIdentity>,
): { readonly gantt: GanttPicture | null; readonly says: string } {
  const placed = schedules.find(({ kind }) => kind === "placed");
  const others = schedules.filter(({ kind }) => kind !== "placed");
  const best = others.reduce<(typeof others)[number] | null>(
    (least, each) => (least === null || each.makespanSeconds < least.makespanSeconds ? each : least),
    null,
  );
  const taken = gpus.map((each) => `${each.node} ${each.gpus.join(", ")}`).join("; ");
  const count = gpus.reduce((sum, each) => sum + each.gpus.length, 0);
  const beside = best === null ? "" : `, ${formatSeconds(best.makespanSeconds)} by ${scheduleNames[best.kind]}, the best of the others`;
  const experts = placed === undefined ? "" : ` Experts would be done after ${formatSeconds(placed.makespanSeconds)}${beside}.`;
  return {
    gantt: prepareGantt(
      placed === undefined
        ? []
        : [{ key: "placed", title: "Experts as placed", word: "modelled", idle: placed.idle, lines: linesOfSchedule(placed) }],
      identities,
    ),
    says: `${formatCounted(questions, "question")}. Takes ${formatCounted(count, "free GPU")} (${taken}) until the last answer.${experts}`,
  };
}
