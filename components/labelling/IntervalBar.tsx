import { cssPercent } from "../charts/cssPercent";
import type { IntervalPicture } from "./prepareTrust";

/** An estimate between 0 and 1 with its interval: a dot on a bar, and a mark at what chance alone would give. The words stand beside it. */
export function IntervalBar({ picture, chance }: { readonly picture: IntervalPicture; readonly chance: number }) {
  return (
    <span aria-hidden="true" className="relative block h-4 w-full min-w-24">
      <span className="absolute inset-x-0 top-1/2 h-px bg-line-strong" />
      <span className="absolute inset-y-0 w-px bg-ink-3" style={{ left: cssPercent(chance) }} />
      <span
        className={`absolute top-1 h-2 rounded-sm ${picture.wide ? "border border-accent bg-(image:--hatch)" : "bg-accent/45"}`}
        style={{ left: cssPercent(picture.low), width: `max(3px, ${cssPercent(picture.high - picture.low)})` }}
      />
      <span
        className="absolute top-1/2 size-2 -translate-x-1/2 -translate-y-1/2 rounded-full border border-panel bg-ink"
        style={{ left: cssPercent(picture.at) }}
      />
    </span>
  );
}
