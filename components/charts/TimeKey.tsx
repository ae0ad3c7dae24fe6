import { bucketWords } from "./bucketText";
import type { ChartSpec } from "./chartSpec";
import { LineSwatch } from "./LineSwatch";
import type { TimePicture } from "./prepareTimeChart";

/** From this bucket width on, the newest value may be too old to be shown as current without a note. */
const WIDE_MS = 60_000;

/** What the lines and bands of a chart over time are, with the newest value of each line. */
export function TimeKey({ picture, spec }: { readonly picture: TimePicture; readonly spec: ChartSpec }) {
  const { series, bands, seriesInAll, bucketMs, hasValues } = picture;
  return (
    <ul className="mt-1 flex list-none flex-wrap gap-x-3 text-xs text-ink-3">
      {series.map(({ id, name, hue, dashed, last }) => (
        <li key={id} className="inline-flex items-center gap-1.5">
          <LineSwatch hue={hue} dashed={dashed} />
          {name}
          {hasValues && <span className={last === null ? "" : "text-ink-2"}>{last === null ? "no sample" : spec.format(last)}</span>}
        </li>
      ))}
      {bands.length > 0 && (
        <li className="inline-flex items-center gap-1.5">
          {[...new Set(bands.map(({ hue }) => hue))].map((hue) => (
            <BandSwatch key={hue} hue={hue} />
          ))}
          {spec.promise ?? "predicted"}
        </li>
      )}
      {hasValues && bucketMs >= WIDE_MS && <li>newest within {bucketWords(bucketMs)}</li>}
      {seriesInAll > series.length && (
        <li>
          {series.length} of {seriesInAll} shown, the highest ones
        </li>
      )}
    </ul>
  );
}

/** A sample of a band with its prediction, stronger than in the chart, because a small patch would not be visible. */
function BandSwatch({ hue }: { readonly hue: string }) {
  return (
    <svg aria-hidden="true" viewBox="0 0 14 8" className="h-2 w-3.5 shrink-0">
      <path d="M0 0H14V8H0Z" fill={hue} fillOpacity={0.3} />
      <path d="M0 4H14" stroke={hue} strokeDasharray="2 3" />
    </svg>
  );
}
