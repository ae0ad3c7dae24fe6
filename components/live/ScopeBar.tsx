"use client";

import { useId } from "react";
import type { TimeWindow } from "../charts/chartSpec";
import { Button } from "../ui/Button";
import { formatClock, formatDate } from "../ui/format";
import { type LiveView, SCOPES, type Scope, SPAN_NAMES, SPANS } from "./address/liveCodec";

const scopeNames: Readonly<Record<Scope, string>> = { cluster: "Cluster", model: "Models", engine: "Engines", gpu: "GPUs" };
const whichNames: Readonly<Record<Exclude<Scope, "cluster">, string>> = { model: "Model", engine: "Engine", gpu: "Node" };
const DAY_MS = 86_400_000;

/** A time range in words, with the date where the time alone is ambiguous. */
function windowText({ fromMs, toMs }: TimeWindow): string {
  const text = (atMs: number) => {
    const iso = new Date(atMs).toISOString();
    return Math.abs(Date.now() - atMs) < DAY_MS ? formatClock(iso) : formatDate(iso);
  };
  return `${text(fromMs)} to ${text(toMs)}`;
}

/** A row of choices, one of which is selected. */
function Choices<Value extends string>(props: {
  readonly legend: string;
  readonly values: readonly Value[];
  readonly nameOf: (value: Value) => string;
  readonly chosen: Value | null;
  readonly onChoose: (value: Value) => void;
}) {
  return (
    <fieldset className="flex min-w-0 max-w-full overflow-x-auto rounded-md border border-line-strong">
      <legend className="sr-only">{props.legend}</legend>
      {props.values.map((value) => (
        <button
          key={value}
          type="button"
          aria-pressed={value === props.chosen}
          className={`h-8 px-2.5 text-sm whitespace-nowrap ${value === props.chosen ? "bg-accent-soft font-medium text-accent" : "bg-raised text-ink-2 hover:bg-sunken"}`}
          onClick={() => props.onChoose(value)}
        >
          {props.nameOf(value)}
        </button>
      ))}
    </fieldset>
  );
}

/** The displayed subject and time range. */
export function ScopeBar(props: {
  readonly view: LiveView;
  /** The displayed subject, and the available ones. */
  readonly of: string | null;
  readonly choices: readonly string[];
  readonly onView: (change: Partial<LiveView>) => void;
  readonly onBack: () => void;
}) {
  const { view, of, choices, onView } = props;
  const { scope, span, zoom } = view;
  const which = useId();
  return (
    <div className="flex flex-wrap items-center gap-x-3 gap-y-2">
      <Choices
        legend="Scope"
        values={SCOPES}
        nameOf={(value) => scopeNames[value]}
        chosen={scope}
        onChoose={(value) => onView({ scope: value, of: null })}
      />
      {scope !== "cluster" && (
        <div className="flex min-w-0 items-center gap-2">
          <label htmlFor={which} className="text-xs text-ink-3">
            {whichNames[scope]}
          </label>
          <select
            id={which}
            title={of ?? ""}
            className="h-8 min-w-0 rounded-md border border-line-strong bg-raised px-2 text-sm"
            value={of ?? ""}
            disabled={choices.length === 0}
            onChange={(event) => onView({ of: event.target.value })}
          >
            {of !== null && !choices.includes(of) && <option value={of}>{of} (not here now)</option>}
            {choices.map((choice) => (
              <option key={choice} value={choice}>
                {choice}
              </option>
            ))}
          </select>
        </div>
      )}
      <div className="ml-auto flex max-w-full flex-wrap items-center gap-2">
        {zoom !== null && (
          <>
            <span className="text-sm text-ink-2" data-testid="zoom">
              {windowText(zoom)}
            </span>
            <Button onClick={props.onBack}>Back</Button>
            <Button look="primary" onClick={() => onView({ zoom: null })}>
              Follow now
            </Button>
          </>
        )}
        <Choices
          legend="Range"
          values={SPAN_NAMES}
          nameOf={(value) => SPANS[value]}
          chosen={zoom === null ? span : null}
          onChoose={(value) => onView({ span: value, zoom: null })}
        />
      </div>
    </div>
  );
}
