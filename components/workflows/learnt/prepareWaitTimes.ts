import { formatCount, formatCounted, formatPercent, formatSeconds } from "@/components/ui/format";
import type { WaitedRecords } from "@/server/contracts/studio";
import { agentText } from "../graph/agentIdentity";

/** More pairs are listed only on demand. */
export const MOST_PAIRS = 15;
/** A shorter wait is the time of a handover. */
const LEAST_SECONDS = 0.001;

export interface WaitedPicture {
  readonly rows: readonly {
    readonly key: string;
    readonly waiter: string;
    readonly ahead: string;
    readonly passes: string;
    readonly seconds: string;
    readonly share: string;
    /** Share of all waiting, 0..1. */
    readonly part: number;
  }[];
  readonly left: number;
  readonly says: string;
  /** What the records lack; null: nothing. */
  readonly lacks: string | null;
}

/** Prepares the display of waiting times. */
export function prepareWaitTimes({ waited, records }: WaitedRecords, all: boolean): WaitedPicture {
  const { pairs, waitedSeconds, roomSeconds, untimed, unnamed } = waited;
  const shown = all ? pairs : pairs.slice(0, MOST_PAIRS);
  const part = (seconds: number) => (waitedSeconds > 0 ? seconds / waitedSeconds : 0);
  const lacks = [
    unnamed > 0 && `${formatCount(unnamed)} of ${formatCount(records)} do not name the agent`,
    untimed > 0 && `${formatCount(untimed)} have no time`,
  ].filter((text) => text !== false);
  return {
    rows: shown.map(({ waiter, ahead, passes, seconds }) => ({
      key: `${waiter}>${ahead}`,
      waiter: agentText(waiter),
      ahead: agentText(ahead),
      passes: formatCount(passes),
      seconds: formatSeconds(seconds),
      share: formatPercent(part(seconds)),
      part: part(seconds),
    })),
    left: pairs.length - shown.length,
    says:
      waitedSeconds < LEAST_SECONDS
        ? `None of the newest ${formatCounted(records, "request")} waited.`
        : `The newest ${formatCounted(records, "request")} waited ${formatSeconds(waitedSeconds)} in total, ${formatPercent(part(roomSeconds))} of it for a free slot and the rest while others went ahead.`,
    lacks: lacks.length === 0 ? null : `${lacks.join(", ")}.`,
  };
}
