import type { ReactNode } from "react";
import { cssPercent } from "@/components/charts/cssPercent";

/** A tick of a common axis: its position as a share of the axis, and its label. */
export interface Tick {
  readonly at: number;
  readonly text: string;
}

/** A row's part of a common axis, with its lines. Its content is positioned by shares. */
export function Track({ ticks, children }: { readonly ticks: readonly Tick[]; readonly children: ReactNode }) {
  return (
    <span aria-hidden="true" className="relative block h-6 min-w-0">
      {ticks.map(({ at }) => (
        <span key={at} className="absolute inset-y-0 w-px bg-line" style={{ left: cssPercent(at) }} />
      ))}
      {children}
    </span>
  );
}

/** The labels of a common axis. */
export function TrackAxis({ ticks }: { readonly ticks: readonly Tick[] }) {
  return (
    <span aria-hidden="true" className="relative block h-4 text-xs text-ink-3">
      {ticks.map(({ at, text }, index) => (
        <span
          key={at}
          className={`absolute whitespace-nowrap ${index === 0 ? "" : at > 0.95 ? "-translate-x-full" : "-translate-x-1/2"}`}
          style={{ left: cssPercent(at) }}
        >
          {text}
        </span>
      ))}
    </span>
  );
}
