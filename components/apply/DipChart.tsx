import type { ReactNode } from "react";
import type { DipPicture, DipStretch } from "./prepareDip";

const share = (value: number): string => `${100 * value}%`;

/** Fill and edge by what it means; shape and table carry the same. */
const looks: Readonly<Record<DipStretch["verdict"]["tone"], string>> = {
  good: "border-good",
  bad: "border-bad bg-bad-soft",
  warn: "border-warn",
  neutral: "border-line-strong",
  accent: "border-accent",
  hatched: "border-line-strong",
};

function Row(props: { readonly name: string; readonly top: string; readonly height: string; readonly children: ReactNode }) {
  return (
    <div className="flex flex-col gap-1">
      <span className="flex justify-between text-xs text-ink-3">
        <span>{props.name}</span>
        <span>{props.top === "" ? "" : `highest ${props.top}`}</span>
      </span>
      <div className={`relative border-b border-line-strong bg-sunken ${props.height}`}>{props.children}</div>
    </div>
  );
}

/**
 * The throughput of each stretch of a roll-out compared with the current rate, and below it the latency; hatched, because it is modelled.
 */
export function DipChart({ picture }: { readonly picture: DipPicture }) {
  return (
    <div role="img" aria-label={picture.label} className="flex flex-col gap-3" data-testid="dip-chart">
      <Row name="Sustains" top={picture.topCapacity} height="h-28">
        {picture.stretches.map((stretch) => (
          <div
            key={stretch.key}
            title={`${stretch.name}: ${stretch.sustains}`}
            className={`absolute bottom-0 border-t-2 [background-image:var(--hatch)] ${looks[stretch.verdict.tone]}`}
            style={{ left: share(stretch.left), width: share(stretch.width), height: share(stretch.capacityHeight) }}
          />
        ))}
        <div className="absolute inset-x-0 border-t-2 border-dashed border-ink" style={{ bottom: share(picture.rateHeight) }}>
          <span className="absolute right-1 bottom-0.5 rounded bg-raised px-1 text-xs text-ink-2">rate {picture.rate}</span>
        </div>
      </Row>
      <Row name="p95" top={picture.topP95} height="h-14">
        {picture.stretches.map((stretch) => (
          <div
            key={stretch.key}
            title={`${stretch.name}: p95 ${stretch.p95}`}
            className={
              stretch.p95Height === null
                ? "absolute inset-y-0 overflow-hidden border-x border-dashed border-bad text-center text-[11px] text-bad"
                : "absolute bottom-0 border-t-2 border-accent [background-image:var(--hatch)]"
            }
            style={{
              left: share(stretch.left),
              width: share(stretch.width),
              ...(stretch.p95Height === null ? {} : { height: share(stretch.p95Height) }),
            }}
          >
            {stretch.p95Height === null && stretch.width > 0.2 && stretch.p95}
          </div>
        ))}
      </Row>
      <div className="relative h-4 text-xs text-ink-3">
        {picture.stretches
          .filter(({ width }) => width >= 0.1)
          .map((stretch) => (
            <span
              key={stretch.key}
              className="absolute truncate text-center"
              style={{ left: share(stretch.left), width: share(stretch.width) }}
            >
              {stretch.name}
            </span>
          ))}
      </div>
    </div>
  );
}
