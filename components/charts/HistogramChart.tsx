import { formatCounted } from "../ui/format";
import type { HistogramPicture } from "./prepareHistogram";

/** A small histogram: bars, ends of the axis, and the count of `of`, in words. */
export function HistogramChart(props: {
  readonly title: string;
  /** Singular of what is counted. */
  readonly of: string;
  readonly picture: HistogramPicture;
  readonly hue: string;
  readonly hatched?: boolean;
}) {
  const { picture } = props;
  return (
    <figure className="m-0 flex flex-col gap-1">
      <figcaption className="flex items-baseline justify-between text-xs text-ink-2">
        {props.title}
        <span className="text-ink-3">{formatCounted(picture.total, props.of)}</span>
      </figcaption>
      <svg
        role="img"
        aria-label={`${props.title}, from ${picture.low} to ${picture.high}`}
        viewBox="0 0 100 32"
        preserveAspectRatio="none"
        className="h-14 w-full"
      >
        {picture.bars.map((bar) => (
          <rect
            key={bar.key}
            x={bar.x * 100}
            y={32 - bar.height * 31}
            width={Math.max(0.2, bar.width * 100 - 0.4)}
            height={bar.height * 31}
            fill={props.hue}
            opacity={props.hatched ? 0.45 : 0.85}
          >
            <title>{bar.text}</title>
          </rect>
        ))}
        <path d="M0 32H100" stroke="var(--line-strong)" strokeWidth="0.5" vectorEffect="non-scaling-stroke" />
      </svg>
      <div className="flex justify-between text-xs text-ink-3">
        <span>{picture.low}</span>
        <span>{picture.high}</span>
      </div>
    </figure>
  );
}
