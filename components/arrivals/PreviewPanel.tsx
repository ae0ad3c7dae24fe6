import type { ArrivalsPreview } from "@/server/contracts/studio";
import { HistogramChart } from "../charts/HistogramChart";
import { prepareHistogram } from "../charts/prepareHistogram";
import { ABSENT, formatAge, formatCount, formatCounted, formatRate } from "../ui/format";
import { previewProblem } from "./prepareArrivals";

/** A plan simulates no more requests than this. */
const SIMULATED = 20_000;

const sinceFirst = (seconds: number): string => (seconds === 0 ? "0" : formatAge(seconds));

/** A summary of the chosen arrivals: how many, over what time, at which hours, in which segments. */
export function PreviewPanel({ preview, byHour }: { readonly preview: ArrivalsPreview; readonly byHour: boolean }) {
  const problem = previewProblem(preview);
  const isClocked = byHour && preview.byHour !== null;
  return (
    <div className="flex flex-col gap-3" data-testid="arrivals-preview">
      <p className="text-sm">
        {formatCounted(preview.arrivals, "arrival")} at {formatRate(preview.requestsPerSecond)} on average.
      </p>
      <p className="text-xs text-ink-3 [overflow-wrap:anywhere]">{preview.origin}</p>
      <div className={`grid gap-4 ${isClocked ? "sm:grid-cols-2" : ""}`}>
        <HistogramChart title="Over time" of="arrival" picture={prepareHistogram(preview.histogram, sinceFirst)} hue="var(--accent)" />
        {byHour && preview.byHour !== null && <ByHour rates={preview.byHour} />}
      </div>
      {preview.segments.length > 0 && (
        <table className="w-full text-sm">
          <thead>
            <tr className="text-left text-xs text-ink-3">
              <th className="font-normal">Segment</th>
              <th className="text-right font-normal">Arrivals</th>
              <th className="text-right font-normal">Rate</th>
            </tr>
          </thead>
          <tbody>
            {preview.segments.map((segment, at) => (
              <tr key={at} className={segment.arrivals < 2 ? "text-bad" : ""}>
                <td className="[overflow-wrap:anywhere]">{segment.name}</td>
                <td className="text-right tabular-nums">{formatCount(segment.arrivals)}</td>
                <td className="text-right tabular-nums">{formatRate(segment.requestsPerSecond)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      {problem !== null && (
        <p role="alert" className="text-sm text-bad">
          {problem}
        </p>
      )}
      {preview.arrivals > SIMULATED && (
        <p className="text-xs text-ink-3">
          A plan is simulated on the first {formatCount(SIMULATED)} at most, at its planned rate. Divide the day into segments to plan busy
          and quiet hours separately.
        </p>
      )}
    </div>
  );
}

/** Mean rate of each hour; a gap where nothing is known of it. */
export function ByHour({ rates }: { readonly rates: readonly (number | null)[] }) {
  const most = Math.max(...rates.map((rate) => rate ?? 0)) || 1;
  return (
    <figure className="m-0 flex flex-col gap-1">
      <figcaption className="flex items-baseline justify-between text-xs text-ink-2">
        By hour of the day <span className="text-ink-3">up to {formatRate(most)}</span>
      </figcaption>
      <svg
        role="img"
        aria-label={`Rate by hour of the day, up to ${formatRate(most)}`}
        viewBox="0 0 96 32"
        preserveAspectRatio="none"
        className="h-14 w-full"
      >
        {rates.map((rate, hour) => {
          const height = rate === null ? 32 : (31 * rate) / most;
          return (
            <rect
              key={hour}
              x={hour * 4 + 0.3}
              y={32 - height}
              width={3.4}
              height={height}
              fill={rate === null ? "var(--sunken)" : "var(--accent)"}
            >
              <title>{`${String(hour).padStart(2, "0")}:00: ${rate === null ? `${ABSENT} not known` : formatRate(rate)}`}</title>
            </rect>
          );
        })}
        <path d="M0 32H96" stroke="var(--line-strong)" strokeWidth="0.5" vectorEffect="non-scaling-stroke" />
      </svg>
      <div className="flex justify-between text-xs text-ink-3">
        <span>00:00</span>
        <span>24:00</span>
      </div>
    </figure>
  );
}
