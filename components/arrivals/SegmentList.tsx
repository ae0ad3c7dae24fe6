"use client";

import { useId } from "react";
import type { Segment } from "@/server/contracts/studio";
import { Button } from "../ui/Button";
import { HourField } from "./HourField";
import { dayAndNight, nextSegment } from "./prepareArrivals";
import { TimeZoneField } from "./TimeZoneField";

const MOST_SEGMENTS = 8;
const control = "h-8 min-w-0 rounded-md border border-line-strong bg-raised px-2 text-sm text-ink";

/** Parts of the day, each to become its own workload. None: the whole day. */
export function SegmentList(props: {
  readonly segments: readonly Segment[];
  /** null: hours of a day without a time zone. */
  readonly timeZone: string | null;
  readonly onChange: (change: { readonly segments?: readonly Segment[]; readonly timeZone?: string }) => void;
}) {
  const { segments } = props;
  const set = (next: readonly Segment[]): void => props.onChange({ segments: next });
  return (
    <fieldset className="flex flex-col gap-2">
      <legend className="mb-1 text-xs text-ink-3">Segments of the day, one workload each</legend>
      {segments.length === 0 && <p className="text-sm text-ink-2">The whole day, as one workload.</p>}
      {segments.map((segment, at) => (
        <SegmentRow
          key={at}
          segment={segment}
          onChange={(changed) => set(segments.map((other, place) => (place === at ? changed : other)))}
          onRemove={() => set(segments.filter((_, place) => place !== at))}
        />
      ))}
      <div className="flex flex-wrap items-end gap-2">
        {segments.length === 0 && <Button onClick={() => set(dayAndNight)}>Day and night</Button>}
        <Button disabled={segments.length >= MOST_SEGMENTS} onClick={() => set([...segments, nextSegment(segments)])}>
          Add a segment
        </Button>
        {segments.length > 0 && props.timeZone !== null && (
          <TimeZoneField value={props.timeZone} onChange={(timeZone) => props.onChange({ timeZone })} />
        )}
      </div>
    </fieldset>
  );
}

function SegmentRow(props: { readonly segment: Segment; readonly onChange: (segment: Segment) => void; readonly onRemove: () => void }) {
  const { segment, onChange } = props;
  const id = useId();
  return (
    <div className="flex flex-wrap items-end gap-2">
      <label htmlFor={id} className="flex flex-col gap-1 text-xs text-ink-3">
        Name
        <input
          id={id}
          className={`${control} w-28`}
          value={segment.name}
          maxLength={40}
          onChange={(event) => onChange({ ...segment, name: event.target.value })}
        />
      </label>
      <HourField label="from" hour={segment.fromHour} onChange={(fromHour) => onChange({ ...segment, fromHour })} />
      <HourField label="to" hour={segment.toHour} onChange={(toHour) => onChange({ ...segment, toHour })} />
      <Button look="quiet" aria-label={`Remove ${segment.name}`} onClick={props.onRemove}>
        ×
      </Button>
    </div>
  );
}
