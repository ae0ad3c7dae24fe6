import { formatCount, formatSeconds } from "@/components/ui/format";
import type { LiveFrame, MeasuredRange } from "@/server/contracts/studio";

/** With fewer requests a p95 is little more than the slowest of them. */
const FEW_FOR_P95 = 20;

/** The frame with the measurements over the page's range in place of those of the measuring window. */
export function overRange(frame: LiveFrame, range: MeasuredRange | null): LiveFrame {
  // Values from before the gateway stopped answering are not shown as current.
  if (range === null || frame.gateway.state === "unreachable") return frame;
  const stages = frame.gateway.stages.map((stage, at) => ({ ...stage, ...range.stages[at] }));
  return { ...frame, measured: range.measured, gateway: { ...frame.gateway, stages } };
}

const reasons = {
  began: "measuring started then, with a load run, a plan or changed controls",
  kept: "older requests are no longer stored",
} as const satisfies Record<NonNullable<MeasuredRange["cutBy"]>, string>;

/** The time range of the figures, and why it is shorter than the page's range: `last 42 s: measuring began then, …`. */
export function windowSays({ measured }: Pick<LiveFrame, "measured">, range: MeasuredRange | null, follows: boolean): string {
  const over = `${follows ? "last " : ""}${formatSeconds(measured.windowSeconds)}`;
  return range?.cutBy == null ? over : `${over}: ${reasons[range.cutBy]}`;
}

/** The number of requests behind a figure, and whether they are too few: `n = 12, too few for a p95`. */
export function countSays(requests: number, figure: "p95" | "mean"): string {
  const few = figure === "p95" && requests > 0 && requests < FEW_FOR_P95;
  return `n = ${formatCount(requests)}${few ? ", too few for a p95" : ""}`;
}
