"use client";

import * as Slider from "radix-ui/slider";

/** A stop of a tau slider. */
export interface TauStop {
  readonly tau: number;
  /** `2/3`, `aggregate all`. */
  readonly name: string;
  /** Its meaning, for those who do not see the figures next to it. */
  readonly says: string;
}

/** More names than this would overlap. */
const MOST_NAMES = 7;

/** The confidence from which the aggregator is skipped: stops only where something changes, evenly spaced. */
export function TauSlider(props: {
  readonly label: string;
  /** Rising tau. */
  readonly stops: readonly TauStop[];
  /** Index of the current stop. */
  readonly at: number;
  /** Index of a stop that is marked, and its word. */
  readonly marked: { readonly at: number; readonly word: string } | null;
  readonly onStop: (at: number) => void;
}) {
  const { stops, at, marked } = props;
  const last = stops.length - 1;
  const named = stops.flatMap((stop, index) =>
    stops.length <= MOST_NAMES || index === 0 || index === last || index === at || index === marked?.at ? [{ stop, index }] : [],
  );
  // Neighbours of the chosen stop hide their names to make room for its name.
  const shown = stops.length <= MOST_NAMES ? named : named.filter(({ index }) => index === at || Math.abs(index - at) > last / 8);
  return (
    <div className="flex flex-col gap-1">
      <span className="text-sm font-medium" aria-hidden="true">
        {props.label}: {stops[at]?.name}
      </span>
      <div className="px-2">
        <Slider.Root
          className="relative flex h-6 touch-none items-center select-none"
          value={[at]}
          min={0}
          max={Math.max(1, last)}
          step={1}
          disabled={last < 1}
          onValueChange={([index]) => index !== undefined && index !== at && props.onStop(index)}
        >
          <Slider.Track className="relative h-1 grow rounded bg-line-strong">
            <Slider.Range className="absolute h-full rounded bg-accent" />
          </Slider.Track>
          <Slider.Thumb
            aria-label={props.label}
            aria-valuetext={stops[at] === undefined ? "" : `${stops[at].name}: ${stops[at].says}`}
            className="block size-4 rounded-full border-2 border-accent bg-raised shadow-xs hover:ring-4 hover:ring-accent-soft"
          />
        </Slider.Root>
        {/* The thumb's middle stays half its width away from either end. */}
        <div aria-hidden="true" className="relative mx-2 h-8 text-xs text-ink-3">
          {shown.map(({ stop, index }) => (
            <span
              key={stop.tau}
              className={`absolute flex flex-col whitespace-nowrap ${index === 0 ? "items-start" : index === last ? "-translate-x-full items-end" : "-translate-x-1/2 items-center"} ${index === at ? "font-medium text-ink" : ""}`}
              style={{ left: `${(100 * index) / Math.max(1, last)}%` }}
            >
              {stop.name}
              {index === marked?.at && <span className="text-accent">{marked.word}</span>}
            </span>
          ))}
        </div>
      </div>
    </div>
  );
}
