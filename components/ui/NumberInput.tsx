"use client";

import { useState } from "react";

/** What a typed text means for a bounded number: the value, or null while it is none. */
export function parseBounded(text: string, bounds: { readonly min: number; readonly max: number }): number | null {
  if (text.trim() === "") return null;
  const value = Number(text);
  return Number.isFinite(value) && value >= bounds.min && value <= bounds.max ? value : null;
}

/** A bounded number that can be typed freely: a text that is no such number is marked and changes nothing until it is one. */
export function NumberInput(props: {
  readonly label: string;
  /** null: none yet, and an empty box. */
  readonly value: number | null;
  readonly min: number;
  readonly max: number;
  readonly step: number;
  readonly onChange: (value: number) => void;
  readonly disabled?: boolean;
  readonly id?: string;
}) {
  const [typed, setTyped] = useState<string | null>(null);
  const text = typed ?? String(props.value ?? "");
  const invalid = parseBounded(text, props) === null && (text !== "" || props.value !== null);
  return (
    <input
      id={props.id}
      type="number"
      inputMode="decimal"
      {...(props.id === undefined ? { "aria-label": props.label } : {})}
      aria-invalid={invalid}
      title={invalid ? `A number from ${props.min} to ${props.max}` : undefined}
      className="h-8 w-20 rounded-md border border-line-strong bg-raised px-2 text-right text-sm tabular-nums disabled:opacity-60 aria-invalid:border-bad"
      value={text}
      min={props.min}
      max={props.max}
      step={props.step}
      disabled={props.disabled}
      onChange={(event) => {
        setTyped(event.target.value);
        const value = parseBounded(event.target.value, props);
        if (value !== null) props.onChange(value);
      }}
      onBlur={() => setTyped(null)}
    />
  );
}
