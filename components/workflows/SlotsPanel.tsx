import { useMemo } from "react";
import { StateWord } from "../ui/Badge";
import { ModelChip } from "../ui/ModelChip";
import { Panel } from "../ui/Panel";
import { useModelIdentities } from "../ui/useModelIdentities";
import { prepareSlots, type Round } from "./prepareRounds";
import { percent } from "./Track";

/** The engines of each model before the latest round: in flight, free up to saturation, or down. */
export function SlotsPanel({ round, age }: { readonly round: Round; readonly age: string }) {
  const bars = useMemo(() => prepareSlots(round.models), [round]);
  const identities = useModelIdentities(bars.map(({ model }) => model));
  return (
    <Panel title="Free slots" aside={`before the latest round, ${age}`}>
      <ul aria-label="Engines by model" className="flex list-none flex-col gap-3" data-testid="slots">
        {bars.map(({ model, word, tone, inFlight, free, text }) => {
          const identity = identities.get(model);
          const hue = identity?.hue ?? "var(--ink-2)";
          return (
            <li key={model} className="flex flex-col gap-1">
              <span className="flex flex-wrap items-center gap-x-3 gap-y-1 text-sm font-medium">
                {identity === undefined ? model : <ModelChip identity={identity} />}
                <StateWord tone={tone}>{word}</StateWord>
              </span>
              <span
                aria-hidden="true"
                className={`flex h-4 overflow-hidden rounded-sm border bg-sunken ${tone === "bad" ? "border-dashed border-bad" : "border-line-strong"}`}
              >
                <span style={{ width: percent(inFlight), background: hue }} />
                <span style={{ width: percent(free), background: `color-mix(in oklab, ${hue} 25%, var(--panel))` }} />
              </span>
              <span className="text-xs text-ink-2">{text}</span>
            </li>
          );
        })}
      </ul>
      <p className="mt-3 text-xs text-ink-3">
        Solid: requests in flight. Pale: free slots, up to where one more request no longer raises an engine's throughput; beyond that a
        round gives it nothing.
      </p>
    </Panel>
  );
}
