import type { ReactNode } from "react";
import type { FrontierPicture } from "@/components/charts/prepareFrontier";
import { formatCount } from "@/components/ui/format";
import type { NamedBaseline } from "./useBaselines";

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

/** The chart's shapes and fills, and what is left out. */
export function FrontierLegend(props: {
  readonly picture: FrontierPicture;
  readonly baselines: readonly NamedBaseline[];
  /** Traffic of the running plan, where its promise is for other traffic than planned for here. */
  readonly otherTraffic: string | null;
}) {
  const { counts, curve, knee, own, running, unasked } = props.picture;
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
      {knee !== null && (
        <Key name="knee: the frontier's sharpest bend">
          <path d="M1 6V1h5M13 8v5H8" fill="none" stroke="var(--ink)" strokeWidth="1.5" />
        </Key>
      )}
      <Key name="dominated">
        <circle cx="7" cy="7" r="2" fill="var(--ink-3)" />
      </Key>
      <Key name="infeasible">
        <path d="M4 4l6 6m-6 0l6-6" stroke="var(--ink-3)" />
      </Key>
      {curve.length > 0 && (
        <Key name={`slack dispatch over τ${curve[0]?.class === "unasked" ? ", not asked for" : ""}`}>
          <path d="M0 10L14 4" stroke="var(--ink-2)" strokeWidth="1.5" />
          <path d="M3.5 3.5h7v7h-7Z" fill="var(--ink-2)" />
        </Key>
      )}
      {unasked.length > 0 && (
        <Key name="not asked for">
          <circle cx="7" cy="7" r="1.5" fill="var(--line-strong)" />
        </Key>
      )}
      <Key name="one model alone">
        <path d="M7 2l5 10H2Z" fill="var(--ink-2)" />
      </Key>
      {own !== null && (
        <Key name="your choice">
          <rect x="1.5" y="1.5" width="11" height="11" rx="2" fill="none" stroke="var(--ink)" strokeWidth="1.75" />
        </Key>
      )}
      {running !== null && (
        <Key name={props.otherTraffic === null ? "running" : `running, promised ${props.otherTraffic}`}>
          <path d="M7 1l6 6-6 6-6-6Z" fill="none" stroke="var(--ink)" strokeWidth="1.5" />
        </Key>
      )}
      {props.baselines.map(({ key, number, name }) => (
        <Key key={key} name={`${number} ${name}`}>
          <path d="M7 12L2 2h10Z" fill="none" stroke="var(--ink)" strokeWidth="1.5" />
        </Key>
      ))}
      {counts.overloaded > 0 && <li>{formatCount(counts.overloaded)} are overloaded at this rate</li>}
      {counts.outside > 0 && <li>{formatCount(counts.outside)} lie outside the view</li>}
    </ul>
  );
}
