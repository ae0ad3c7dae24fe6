import { formatCounted, formatPercent, formatSeconds } from "@/components/ui/format";
import type { ModelIdentity } from "@/components/ui/modelIdentity";
import type { BatchPreview } from "@/server/contracts/studio";
import { type GanttLine, type GanttPicture, linesOfSchedule, prepareGantt } from "../gantt/prepareGantt";
import { scheduleNames } from "../gantt/scheduleNames";

type Aggregator = BatchPreview["aggregator"];

/** Engines of the aggregator after the last expert, for the share of questions that a sample predicts, or for all. */
function aggregatorLines(
  { aggregator, questions }: { aggregator: Aggregator; questions: number },
  fromSeconds: number,
): readonly GanttLine[] {
  const { model, copies, loadSeconds, allSeconds, expected } = aggregator;
  const { share, seconds } = expected ?? { share: 1, seconds: allSeconds };
  const prompts = Math.round((share * questions) / copies);
  if (prompts === 0) return [];
  const readySeconds = fromSeconds + loadSeconds;
  const session = { model, prompts, fromSeconds, readySeconds, untilSeconds: readySeconds + seconds, share: null };
  return Array.from({ length: copies }, (_, at) => ({ name: `aggregator ${at + 1}`, sessions: [session], isOnOthersGpus: true }));
}

/** The expected end, in a sentence. */
function wholeText({ loadSeconds, allSeconds, expected }: Aggregator, expertsSeconds: number): string {
  const all = formatSeconds(expertsSeconds + loadSeconds + allSeconds);
  if (expected === null) return ` With all questions sent to it, the aggregator would be done after ${all}.`;
  const whole = formatSeconds(expertsSeconds + (expected.share === 0 ? 0 : loadSeconds + expected.seconds));
  return ` The aggregator would be done after ${whole} if ${formatPercent(expected.share)} of questions reach it, as in ${expected.source}; after ${all} if all do.`;
}

/** A preview of a batch: drawn with its aggregator, compared with the best baseline, and in a sentence. */
export function prepareBatchPreview(
  { schedules, gpus, questions, aggregator }: BatchPreview,
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
  const whole = placed === undefined ? "" : wholeText(aggregator, placed.makespanSeconds);
  const after = placed === undefined ? [] : aggregatorLines({ aggregator, questions }, placed.makespanSeconds);
  return {
    gantt: prepareGantt(
      placed === undefined
        ? []
        : [
            {
              ...{ key: "placed", word: "modelled", lines: [...linesOfSchedule(placed), ...after] },
              title: after.length === 0 ? "Experts as placed" : "Experts as placed, and the aggregator",
              // The aggregator uses the experts' GPUs: gaps in its own rows are not idle time.
              idle: after.length === 0 ? placed.idle : null,
            },
          ],
      identities,
    ),
    says: `${formatCounted(questions, "question")}. It takes ${formatCounted(count, "free GPU")} (${taken}) until the last answer.${experts}${whole}`,
  };
}
