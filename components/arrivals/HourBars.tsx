"use client";

import { type ClipboardEvent, type PointerEvent, useState } from "react";
import { formatRate } from "../ui/format";
import { MOST_RATE, parseHours } from "./prepareArrivals";

/** Room above the highest bar, so that it can be drawn higher. */
const HEADROOM = 1.25;
const field =
  "h-8 w-full min-w-0 rounded border border-line-strong bg-raised px-0.5 text-center text-xs text-ink tabular-nums aria-invalid:border-bad [appearance:textfield] [&::-webkit-inner-spin-button]:appearance-none";

/** A rate to three digits: the precision of a drag. */
const rounded = (rate: number): number => Number(Math.max(0, rate).toPrecision(3));

/**
 * Rates of the 24 hours: typed, each a field that the arrow keys change too, pasted as 24 numbers into any of them, or drawn by dragging
 * the bars above.
 */
export function HourBars(props: { readonly rates: readonly number[]; readonly onChange: (rates: readonly number[]) => void }) {
  const { rates } = props;
  /** The top of the scale while bars are dragged: it must not move away from the pointer. */
  const [held, setHeld] = useState<number | null>(null);
  const most = Math.max(...rates, 0.1) * HEADROOM;
  const set = (hour: number, rate: number): void => props.onChange(rates.map((other, at) => (at === hour ? rate : other)));

  function drag(event: PointerEvent<HTMLDivElement>, top: number | null): void {
    if (top === null) return;
    const box = event.currentTarget.getBoundingClientRect();
    const hour = Math.min(23, Math.max(0, Math.floor(((event.clientX - box.left) / box.width) * 24)));
    const rate = rounded((1 - (event.clientY - box.top) / box.height) * top);
    if (rate !== rates[hour]) set(hour, Math.min(MOST_RATE, rate));
  }

  function paste(event: ClipboardEvent): void {
    const pasted = parseHours(event.clipboardData.getData("text"));
    if (pasted === null) return;
    event.preventDefault();
    props.onChange(pasted);
  }

  return (
    <fieldset className="flex flex-col gap-1" onPaste={paste}>
      <legend className="mb-1 text-xs text-ink-3">
        Requests per second in each hour of the day: type, paste 24 numbers, or drag the bars
      </legend>
      <div
        aria-hidden="true"
        className="grid h-24 touch-none grid-cols-24 items-end gap-px border-b border-line-strong select-none"
        onPointerDown={(event) => {
          setHeld(most);
          event.currentTarget.setPointerCapture(event.pointerId);
          drag(event, most);
        }}
        onPointerMove={(event) => drag(event, held)}
        onPointerUp={() => setHeld(null)}
        onPointerCancel={() => setHeld(null)}
      >
        {rates.map((rate, hour) => (
          <div key={hour} title={`${hourText(hour)}: ${formatRate(rate)}`} className="flex h-full cursor-ns-resize items-end">
            <div className="w-full rounded-t-sm bg-accent" style={{ height: `${Math.min(100, (100 * rate) / (held ?? most))}%` }} />
          </div>
        ))}
      </div>
      <div aria-hidden="true" className="flex justify-between text-[10px] text-ink-3">
        {[0, 6, 12, 18, 24].map((hour) => (
          <span key={hour}>{hourText(hour)}</span>
        ))}
      </div>
      {rates.every((rate) => rate === rates[0]) && (
        <p className="text-xs text-ink-3">All hours have the same rate: segments of this day would differ only in length.</p>
      )}
      <div className="grid grid-cols-6 gap-1 sm:grid-cols-12">
        {rates.map((rate, hour) => (
          <label key={hour} className="flex min-w-0 flex-col text-center text-[10px] text-ink-3">
            {hourText(hour)}
            <input
              type="number"
              inputMode="decimal"
              aria-label={`Requests per second from ${hourText(hour)}`}
              className={field}
              min={0}
              max={MOST_RATE}
              step="any"
              value={rate}
              onKeyDown={(event) => {
                const up = { ArrowUp: 1, ArrowDown: -1 }[event.key];
                if (up === undefined) return;
                event.preventDefault();
                // A tenth of the scale's digit: small rates move in small steps.
                const step = 10 ** Math.floor(Math.log10(Math.max(rate, 0.1))) / 2;
                set(hour, Math.min(MOST_RATE, rounded(rate + up * step)));
              }}
              onChange={(event) => {
                const typed = Number(event.target.value);
                if (typed >= 0 && typed <= MOST_RATE) set(hour, typed);
              }}
            />
          </label>
        ))}
      </div>
    </fieldset>
  );
}

const hourText = (hour: number): string => `${String(hour).padStart(2, "0")}:00`;
