"use client";

import * as Slider from "radix-ui/slider";
import { type ReactNode, useRef, useState } from "react";
import { NumberInput } from "./NumberInput";

/**
 * One setting: slider, number, unit and a reset. While the thumb is held `onDraft` follows every step; `onCommit` is called once, at the
 * end, and on every change by keyboard or by typing.
 */
export function Knob(props: {
  readonly label: string;
  readonly value: number;
  readonly min: number;
  readonly max: number;
  readonly step: number;
  readonly unit: string;
  readonly whole?: boolean;
  /** Whether it is off: its box is empty then, and the thumb is at `value`. */
  readonly off?: boolean;
  /** What off means, where the word alone does not say it. */
  readonly offText?: string;
  readonly disabled?: boolean;
  readonly note?: ReactNode;
  readonly onDraft: (value: number) => void;
  readonly onCommit: (value: number) => void;
  /** null where there is nothing to reset to. */
  readonly onReset: (() => void) | null;
}) {
  const { off = false, offText = "off", disabled = false } = props;
  const [held, setHeld] = useState(false);
  // The last draft of a held thumb. Radix reports no end where the value is that of the start, and the draft would stay.
  const drafted = useRef<number | null>(null);
  return (
    <div className={`flex flex-col gap-1.5 ${disabled ? "text-ink-3" : ""}`}>
      <div className="flex items-center gap-2">
        <span aria-hidden="true" className="text-sm font-medium">
          {props.label}
        </span>
        {off && <span className="text-xs text-ink-3">{offText}</span>}
        <div className="ml-auto flex flex-wrap items-center justify-end gap-1.5">
          <NumberInput
            label={props.label}
            value={off ? null : props.value}
            min={props.min}
            max={props.max}
            step={props.step}
            whole={props.whole ?? false}
            disabled={disabled}
            onChange={props.onCommit}
          />
          <span className="w-9 text-xs whitespace-nowrap text-ink-3">{props.unit}</span>
          <button
            type="button"
            aria-label={`Reset ${props.label.toLowerCase()}`}
            title="Reset"
            disabled={disabled || props.onReset === null}
            onClick={() => props.onReset?.()}
            className="size-6 rounded text-ink-3 hover:bg-sunken hover:text-ink disabled:invisible"
          >
            ↺
          </button>
        </div>
      </div>
      <Slider.Root
        className="group relative flex h-5 touch-none items-center select-none"
        value={[props.value]}
        min={props.min}
        max={props.max}
        step={props.step}
        disabled={disabled}
        onPointerDown={() => setHeld(true)}
        onPointerUp={() => {
          setHeld(false);
          if (drafted.current !== null) props.onCommit(drafted.current);
          drafted.current = null;
        }}
        onValueChange={([value]) => {
          if (value === undefined) return;
          if (held) drafted.current = value;
          (held ? props.onDraft : props.onCommit)(value);
        }}
        onValueCommit={([value]) => {
          if (value !== undefined) props.onCommit(value);
        }}
      >
        <Slider.Track className="relative h-1 grow rounded bg-line-strong">
          <Slider.Range className="absolute h-full rounded bg-accent group-data-disabled:bg-line-strong" />
        </Slider.Track>
        <Slider.Thumb
          aria-label={props.label}
          {...(off ? { "aria-valuetext": offText } : {})}
          className="block size-4 rounded-full border-2 border-accent bg-raised shadow-xs hover:ring-4 hover:ring-accent-soft data-disabled:border-line-strong data-disabled:hover:ring-0"
        />
      </Slider.Root>
      {props.note !== undefined && <p className="text-xs text-ink-3">{props.note}</p>}
    </div>
  );
}
