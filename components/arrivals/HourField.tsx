"use client";

import { useId, useState } from "react";
import { hourOfTime, timeOfHour } from "./prepareArrivals";

/** A time of the day as `20:15`, in 24 hours as everywhere else here: the browser's own field follows the browser's language. */
export function HourField(props: { readonly label: string; readonly hour: number; readonly onChange: (hour: number) => void }) {
  /** The text that is typed and not yet committed, or is no time; null: the hour as it is. */
  const [draft, setDraft] = useState<string | null>(null);
  const saysId = useId();
  const text = draft ?? timeOfHour(props.hour);
  const invalid = hourOfTime(text) === null;
  return (
    <div className="flex flex-col gap-1 text-xs">
      <label className="flex flex-col gap-1 text-ink-3">
        {props.label}
        <input
          inputMode="numeric"
          placeholder="hh:mm"
          aria-invalid={invalid || undefined}
          aria-describedby={invalid ? saysId : undefined}
          className="h-8 w-16 min-w-0 rounded-md border border-line-strong bg-raised px-2 text-sm text-ink tabular-nums aria-invalid:border-bad"
          value={text}
          maxLength={5}
          onChange={(event) => {
            setDraft(event.target.value);
            const typed = hourOfTime(event.target.value);
            if (typed !== null) props.onChange(typed);
          }}
          onBlur={() => {
            if (!invalid) setDraft(null);
          }}
        />
      </label>
      {invalid && (
        <span id={saysId} role="alert" className="text-bad">
          A time such as 20:15; {timeOfHour(props.hour)} still applies
        </span>
      )}
    </div>
  );
}
