import type { ReactNode } from "react";
import type { LinePicture } from "./prepareLine";

export const percent = (share: number): string => `${share * 100}%`;

/** A row's piece of a common axis, with its lines. What stands on it is placed by shares. */
export function Track({ ticks, children }: { readonly ticks: LinePicture["ticks"]; readonly children: ReactNode }) {
  return (
    <span aria-hidden="true" className="relative block h-6 min-w-0">
      {ticks.map(({ at }) => (
        <span key={at} className="absolute inset-y-0 w-px bg-line" style={{ left: percent(at) }} />
      ))}
      {children}
    </span>
  );
}

/** The words of a common axis. */
export function TrackAxis({ ticks }: { readonly ticks: LinePicture["ticks"] }) {
  return (
    <span aria-hidden="true" className="relative block h-4 text-xs text-ink-3">
      {ticks.map(({ at, text }, index) => (
        <span
          key={at}
          className={`absolute whitespace-nowrap ${index === 0 ? "" : at > 0.95 ? "-translate-x-full" : "-translate-x-1/2"}`}
          style={{ left: percent(at) }}
        >
          {text}
        </span>
      ))}
    </span>
  );
}
