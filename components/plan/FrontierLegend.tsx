import type { ReactNode } from "react";
import type { FrontierPicture } from "../charts/prepareFrontier";
import { formatCount } from "../ui/format";

function Key({ children, name }: { readonly children: ReactNode; readonly name: string }) {
  return (
    <li className="inline-flex items-center gap-1.5">
      <svg aria-hidden="true" viewBox="0 0 14 14" className="size-3.5">
        {children}
      </svg>
      {name}
    </li>
  );
}

/** Shapes and fills of the chart, and what it leaves out. */
export function FrontierLegend({ counts, running }: { readonly counts: FrontierPicture["counts"]; readonly running: boolean }) {
  return (
    <ul className="flex list-none flex-wrap gap-x-4 gap-y-1 text-xs text-ink-3">
      <Key name="recommended">
        <circle cx="7" cy="7" r="3.5" fill="var(--accent)" />
        <circle cx="7" cy="7" r="6" fill="none" stroke="var(--accent)" />
      </Key>
      <Key name="frontier">
        <circle cx="7" cy="7" r="3.5" fill="var(--accent)" />
      </Key>
      <Key name="frontier, misses floor or budget">
        <circle cx="7" cy="7" r="3.5" fill="none" stroke="var(--accent)" />
      </Key>
      <Key name="dominated">
        <circle cx="7" cy="7" r="2" fill="var(--ink-3)" />
      </Key>
      <Key name="infeasible">
        <path d="M4 4l6 6m-6 0l6-6" stroke="var(--ink-3)" />
      </Key>
      <Key name="one model alone">
        <path d="M7 2l5 10H2Z" fill="var(--ink-2)" />
      </Key>
      {running && (
        <Key name="running">
          <path d="M7 1l6 6-6 6-6-6Z" fill="none" stroke="var(--ink)" strokeWidth="1.5" />
        </Key>
      )}
      {counts.overloaded > 0 && <li>{formatCount(counts.overloaded)} do not keep up with this rate</li>}
      {counts.above > 0 && <li>{formatCount(counts.above)} lie above the view</li>}
    </ul>
  );
}
