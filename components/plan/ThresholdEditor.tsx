"use client";

import { NumberInput } from "../ui/NumberInput";
import type { RoutingChoice } from "./routingKey";

/** Thresholds of the shown cascade, editable: a value set by hand fixes all of them until it is given back to the planner. */
export function ThresholdEditor(props: {
  readonly shown: RoutingChoice;
  readonly fixed: boolean;
  readonly onFix: (routing: RoutingChoice) => void;
  readonly onRelease: () => void;
}) {
  const { shown } = props;
  if (shown.thresholds.length === 0) {
    return <p className="text-sm text-ink-3">{shown.models[0]} answers every request alone: there is no threshold to set.</p>;
  }
  return (
    <fieldset className="flex flex-wrap items-center gap-x-4 gap-y-2">
      <legend className="sr-only">Thresholds</legend>
      {shown.thresholds.map((threshold, index) => {
        const model = shown.models[index] ?? "?";
        return (
          <div key={model} className="flex flex-wrap items-center gap-2 text-sm text-ink-2">
            accept {model} from
            <NumberInput
              label={`Threshold of ${model}`}
              value={threshold}
              min={0}
              max={100}
              step={1}
              whole
              onChange={(value) =>
                props.onFix({
                  ...shown,
                  thresholds: shown.thresholds.map((each, at) => (at === index ? value : each)),
                })
              }
            />
          </div>
        );
      })}
      {props.fixed ? (
        <button type="button" className="text-sm font-medium text-accent underline underline-offset-2" onClick={props.onRelease}>
          Let the planner choose
        </button>
      ) : (
        <span className="text-xs text-ink-3">chosen by the planner</span>
      )}
    </fieldset>
  );
}
