"use client";

import * as Slider from "radix-ui/slider";
import { useState } from "react";
import { cssPercent } from "../charts/cssPercent";
import type { SlackControl, SlackPoint } from "./prepareSlack";

/** The slack of the policy in force. While the thumb is held `onDraft` follows it; `onCommit` is called at the end, and for each key. */
export function SlackSlider(props: {
  readonly slack: SlackControl;
  readonly onDraft: (point: SlackPoint) => void;
  readonly onCommit: (point: SlackPoint) => void;
}) {
  const [held, setHeld] = useState(false);
  const { slack, onDraft, onCommit } = props;
  const { chosen, exact, approved } = slack;
  const label = exact ? chosen.label : "set by hand";
  return (
    <div className="flex flex-col gap-1.5" data-testid="slack-slider">
      <div className="flex items-baseline gap-2">
        <span aria-hidden="true" className="text-sm font-medium">
          Slack
        </span>
        <span className="ml-auto text-sm tabular-nums">{label}</span>
      </div>
      <Slider.Root
        className="group relative flex h-5 touch-none items-center select-none"
        value={[chosen.position]}
        min={slack.min}
        max={slack.max}
        step={slack.step}
        onPointerDown={() => setHeld(true)}
        onPointerUp={() => setHeld(false)}
        onValueChange={([value]) => {
          if (value !== undefined) (held ? onDraft : onCommit)(slack.at(value));
        }}
        onValueCommit={([value]) => {
          if (value !== undefined) onCommit(slack.at(value));
        }}
      >
        <Slider.Track className="relative h-1 grow rounded bg-line-strong">
          {approved !== null && (
            <span
              aria-hidden="true"
              className="absolute h-full rounded bg-accent"
              style={{ left: cssPercent(approved.from), width: cssPercent(approved.to - approved.from) }}
            />
          )}
        </Slider.Track>
        <Slider.Thumb
          aria-label="Slack"
          aria-valuetext={chosen.approved ? label : `${label}, needs a new plan`}
          className="block size-4 rounded-full border-2 border-accent bg-raised shadow-xs hover:ring-4 hover:ring-accent-soft"
        />
      </Slider.Root>
      <p className="text-xs text-ink-3">{slack.note}</p>
    </div>
  );
}
