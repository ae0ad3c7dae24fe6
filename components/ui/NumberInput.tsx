"use client";

import { useId, useState } from "react";
import { useNumberGuard } from "./NumberGuard";

interface Bounds {
  readonly min: number;
  readonly max: number;
  readonly whole?: boolean;
}

/** Numbers that may be as large take a wider box. */
const WIDE_FROM = 1_000_000;

/** What a typed text means for a bounded number: the value, or null while it is none. */
export function parseBounded(text: string, bounds: Bounds): number | null {
  if (text.trim() === "") return null;
  const value = Number(text);
  if (bounds.whole && !Number.isInteger(value)) return null;
  return Number.isFinite(value) && value >= bounds.min && value <= bounds.max ? value : null;
}

/**
 * Whether a text is a whole number of steps above the least. A browser takes any other for wrong where it is told the step, though a step
 * is for arrows alone.
 */
export function isStepped(text: string, { min, step }: { readonly min: number; readonly step: number }): boolean {
  const steps = (Number(text) - min) / step;
  return Math.abs(steps - Math.round(steps)) < 1e-9;
}

/** The number one step up (1) or down (-1), within the bounds. */
export const stepped = (value: number, way: 1 | -1, { min, max, step }: Bounds & { readonly step: number }): number =>
  Math.min(max, Math.max(min, Number((value + way * step).toPrecision(12))));

/** What may be typed, in words. */
export const boundsText = ({ min, max, whole }: Bounds): string =>
  `A ${whole ? "whole " : ""}number from ${min.toLocaleString("en-US")} to ${max.toLocaleString("en-US")}`;

/**
 * A bounded number that can be typed freely: a text that is no such number is marked and changes nothing until it is one. Inside a
 * `NumberGuard` it stays, with a sentence, until it is mended or the value changes; elsewhere the value comes back on leaving the field.
 */
export function NumberInput(props: {
  readonly label: string;
  /** null: none yet, and an empty box. */
  readonly value: number | null;
  readonly min: number;
  readonly max: number;
  readonly step: number;
  readonly whole?: boolean;
  readonly onChange: (value: number) => void;
  readonly disabled?: boolean;
  readonly id?: string;
  /** Of a sentence that says what is wrong with a number that can be; undefined: nothing is. */
  readonly problemId?: string | undefined;
}) {
  const [typed, setTyped] = useState<string | null>(null);
  const [left, setLeft] = useState<{ readonly text: string; readonly value: number | null } | null>(null);
  const saysId = useId();
  const text = typed ?? (left !== null && left.value === props.value ? left.text : String(props.value ?? ""));
  const invalid = parseBounded(text, props) === null && (text !== "" || props.value !== null);
  const guarded = useNumberGuard(invalid);
  function put(next: string) {
    setTyped(next);
    setLeft(null);
    const value = parseBounded(next, props);
    if (value !== null) props.onChange(value);
  }
  return (
    <>
      <input
        id={props.id}
        type="number"
        inputMode="decimal"
        {...(props.id === undefined ? { "aria-label": props.label } : {})}
        aria-invalid={invalid || props.problemId !== undefined}
        aria-describedby={guarded && invalid ? saysId : props.problemId}
        title={invalid ? boundsText(props) : undefined}
        className={`h-8 rounded-md border border-line-strong bg-raised px-2 text-right text-sm tabular-nums disabled:opacity-60 aria-invalid:border-bad ${props.max >= WIDE_FROM ? "w-28" : "w-20"}`}
        value={text}
        min={props.min}
        max={props.max}
        step={isStepped(text, props) ? props.step : "any"}
        disabled={props.disabled}
        onChange={(event) => put(event.target.value)}
        onKeyDown={(event) => {
          const value = parseBounded(text, props);
          if (value === null || (event.key !== "ArrowUp" && event.key !== "ArrowDown")) return;
          event.preventDefault();
          put(String(stepped(value, event.key === "ArrowUp" ? 1 : -1, props)));
        }}
        onBlur={() => {
          if (guarded && invalid) setLeft({ text, value: props.value });
          setTyped(null);
        }}
      />
      {guarded && invalid && (
        <span id={saysId} role="alert" className="text-xs text-bad">
          {boundsText(props)}
        </span>
      )}
    </>
  );
}
