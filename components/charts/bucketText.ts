import { formatClock, formatDate } from "../ui/format";
import type { TimeWindow } from "./chartSpec";

const DAY_MS = 86_400_000;

/** Time of a bucket as its chart needs it: with the date where the window is longer than a day. */
export function bucketText(atMs: number, { fromMs, toMs }: TimeWindow): string {
  const iso = new Date(atMs).toISOString();
  return toMs - fromMs > DAY_MS ? formatDate(iso) : formatClock(iso);
}

/** How wide buckets are, in words: `20 s`, `5 min`, `3 h`. */
export function bucketWords(bucketMs: number): string {
  const seconds = bucketMs / 1000;
  return seconds % 3600 === 0 ? `${seconds / 3600} h` : seconds % 60 === 0 ? `${seconds / 60} min` : `${seconds} s`;
}
