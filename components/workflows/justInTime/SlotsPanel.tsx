import { useMemo } from "react";
import { cssPercent } from "@/components/charts/cssPercent";
import { ClusterLink } from "@/components/shell/ClusterLink";
import { StateWord } from "@/components/ui/Badge";
import { ModelChip } from "@/components/ui/ModelChip";
import { Panel } from "@/components/ui/Panel";
import { useModelIdentities } from "@/components/ui/useModelIdentities";
import { isPastRound, prepareSlots, type RoundRow } from "./prepareRounds";

/** The engines of each model before the latest round: in flight, free up to saturation, or down. Paled once the round is in the past. */
export function SlotsPanel({ newest }: { readonly newest: Pick<RoundRow, "round" | "age" | "ageSeconds"> }) {
  const { round, age, ageSeconds } = newest;
  const isPast = isPastRound(ageSeconds);
  const bars = useMemo(() => prepareSlots(round.models, isPast), [round, isPast]);
  const identities = useModelIdentities(bars.map(({ model }) => model));
  return (
    <Panel title="Free slots" aside={`before the latest round, ${age}`}>
      {isPast && (
        <p className="mb-3 text-sm text-ink-2">
          No round since then: this is the state at that time.{" "}
          <ClusterLink to="/live">Live shows the current state of engines.</ClusterLink>
        </p>
      )}
      <ul aria-label="Engines by model" className={`flex list-none flex-col gap-3 ${isPast ? "grayscale" : ""}`} data-testid="slots">
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
                <span style={{ width: cssPercent(inFlight), background: hue }} />
                <span style={{ width: cssPercent(free), background: `color-mix(in oklab, ${hue} 25%, var(--panel))` }} />
              </span>
              <span className="text-xs text-ink-2">{text}</span>
            </li>
          );
        })}
      </ul>
      <p className="mt-3 text-xs text-ink-3">
        Solid: requests in flight. Pale: free slots, up to the point where more requests no longer raise an engine's throughput or its
        memory or sequence limit is reached; a round assigns nothing beyond that.
      </p>
    </Panel>
  );
}
