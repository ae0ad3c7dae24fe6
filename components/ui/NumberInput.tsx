"use client";

import { useEffect, useId, useRef, useState } from "react";
import { useNumberGuard } from "./NumberGuard";

interface Bounds {
  readonly min: number;
  readonly max: number;
  readonly whole?: boolean | undefined;
  /** Whether it must be above `min`, not equal to it. */
  readonly above?: boolean | undefined;
}

/** Numbers that can be as large get a wider box. */
const WIDE_FROM = 1_000_000;

/** The value of a typed text for a bounded number; null while it is not one. */
export function parseBounded(text: string, bounds: Bounds): number | null {
  if (text.trim() === "") return null;
  const value = Number(text);
  if (bounds.whole && !Number.isInteger(value)) return null;
  if (!Number.isFinite(value) || value > bounds.max) return null;
  return value > bounds.min || (value === bounds.min && !bounds.above) ? value : null;
}

/**
 * Whether a text is a whole number of steps above the minimum. A browser that knows the step rejects all others, although a step
 * is meant for the arrows only.
 */
export function isStepped(text: string, { min, step }: { readonly min: number; readonly step: number }): boolean {
  const steps = (Number(text) - min) / step;
  return Math.abs(steps - Math.round(steps)) < 1e-9;
}

/** The number one step up (1) or down (-1), within the bounds; unchanged where the step would leave them. */
export function stepped(value: number, way: 1 | -1, { min, max, step, above }: Bounds & { readonly step: number }): number {
  const next = Math.min(max, Math.max(min, Number((value + way * step).toPrecision(12))));
  return above && next === min ? value : next;
}

/** A bound for display, with all its digits. */
const digits = (bound: number): string => bound.toLocaleString("en-US", { maximumFractionDigits: 12 });

/** The valid input, in words. */
export const boundsText = ({ min, max, whole, above }: Bounds): string =>
  `A ${whole ? "whole " : ""}number ${above ? `above ${digits(min)} and at most` : `from ${digits(min)} to`} ${digits(max)}`;

/**
 * A bounded number that can be typed freely. An invalid text stays, with a message next to it, and changes nothing until it is corrected or
 * the value changes from elsewhere. A surrounding form is not submitted until then: its guard knows, or the field takes the focus. Without
 * a form the previous value still applies, and the message says so.
 */
export function NumberInput(props: {
  readonly label: string;
  /** null: none yet, and an empty box. */
  readonly value: number | null;
  readonly min: number;
  readonly max: number;
  readonly step: number;
  readonly whole?: boolean;
  /** Whether it must be above `min`, not equal to it. */
  readonly above?: boolean;
  readonly onChange: (value: number) => void;
  readonly disabled?: boolean;
  readonly id?: string;
  /** Id of a message about a valid number that is wrong in its context; undefined: none. */
  readonly problemId?: string | undefined;
}) {
  /** The typed text, and the value that it gave or left in force. */
  const [typed, setTyped] = useState<{ readonly text: string; readonly value: number | null } | null>(null);
  /** Whether the field is being edited: the value may follow later. */
  const [held, setHeld] = useState(false);
  const [isInForm, setInForm] = useState(false);
  // A value set from elsewhere replaces the typed text.
  if (typed !== null && !held && typed.value !== props.value) setTyped(null);
  const input = useRef<HTMLInputElement>(null);
  const saysId = useId();
  const text = typed !== null && (held || typed.value === props.value) ? typed.text : String(props.value ?? "");
  const invalid = parseBounded(text, props) === null && (text !== "" || props.value !== null);
  const guarded = useNumberGuard(invalid);
  const sentence = invalid ? problemText(props, guarded || isInForm ? null : props.value) : "";
  useEffect(() => {
    const form = input.current?.form ?? null;
    setInForm(form !== null);
    if (form === null || !invalid || guarded) return;
    const refuse = (event: SubmitEvent): void => {
      event.preventDefault();
      event.stopPropagation();
      input.current?.closest("details")?.setAttribute("open", "");
      input.current?.focus();
    };
    // In the capture phase, before the submit handlers.
    form.addEventListener("submit", refuse, { capture: true });
    return () => form.removeEventListener("submit", refuse, { capture: true });
  }, [invalid, guarded]);
  function put(next: string) {
    const value = parseBounded(next, props);
    setTyped({ text: next, value: value ?? (held && typed !== null ? typed.value : props.value) });
    setHeld(true);
    if (value !== null) props.onChange(value);
  }
  return (
    <>
      <input
        ref={input}
        id={props.id}
        type="number"
        inputMode="decimal"
        {...(props.id === undefined ? { "aria-label": props.label } : {})}
        aria-invalid={invalid || props.problemId !== undefined}
        aria-describedby={invalid ? saysId : props.problemId}
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
        onBlur={() => setHeld(false)}
      />
      {invalid && (
        <span id={saysId} role="alert" className="order-last basis-full text-xs text-bad">
          {sentence}
        </span>
      )}
    </>
  );
}

/** The error of a typed number, and the value that applies instead; null: none does. */
const problemText = (bounds: Bounds, applies: number | null): string =>
  applies === null ? boundsText(bounds) : `${boundsText(bounds)}; ${applies} still applies`;
