"use client";

import { Button } from "../ui/Button";

const HOUR_MS = 3_600_000;
const spans = [
  { text: "Last hour", ms: HOUR_MS },
  { text: "Last day", ms: 24 * HOUR_MS },
  { text: "Last week", ms: 7 * 24 * HOUR_MS },
  { text: "Last 30 days", ms: 30 * 24 * HOUR_MS },
] as const;

export interface Span {
  readonly fromMs: number;
  readonly toMs: number;
}

export const lastDay = (): Span => ({ fromMs: Date.now() - 24 * HOUR_MS, toMs: Date.now() });

/** The start and end of the counters' range, on the browser's clock. */
export function CounterSpan(props: { readonly span: Span; readonly onChange: (span: Span) => void }) {
  const { span } = props;
  const field = (label: string, atMs: number, change: (atMs: number) => Span) => (
    <label className="flex flex-col gap-1 text-xs text-ink-3">
      {label}
      <input
        type="datetime-local"
        className="h-8 min-w-0 rounded-md border border-line-strong bg-raised px-2 text-sm text-ink"
        value={localText(atMs)}
        onChange={(event) => {
          const typed = Date.parse(event.target.value);
          if (!Number.isNaN(typed)) props.onChange(change(typed));
        }}
      />
    </label>
  );
  return (
    <fieldset className="flex flex-wrap items-end gap-2">
      <legend className="mb-1 text-xs text-ink-3">Span, in this browser’s time; roll-ups go back 30 days</legend>
      {field("from", span.fromMs, (fromMs) => ({ ...span, fromMs }))}
      {field("to", span.toMs, (toMs) => ({ ...span, toMs }))}
      {spans.map(({ text, ms }) => (
        <Button key={text} look="quiet" onClick={() => props.onChange({ fromMs: Date.now() - ms, toMs: Date.now() })}>
          {text}
        </Button>
      ))}
    </fieldset>
  );
}

/** In the format of a field for local times. */
function localText(atMs: number): string {
  const offsetMs = new Date(atMs).getTimezoneOffset() * 60_000;
  return new Date(atMs - offsetMs).toISOString().slice(0, 16);
}
