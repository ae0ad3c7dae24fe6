"use client";

import { useMemo } from "react";
import { cssPercent } from "@/components/charts/cssPercent";
import { Button } from "@/components/ui/Button";
import { Panel } from "@/components/ui/Panel";
import type { AgentView } from "@/solver/workflow/learning/workflowsView";
import type { AgentIdentities } from "../graph/agentIdentity";
import { Track, TrackAxis } from "../graph/Track";
import { type LineRow, MOST_ON_LINE, prepareLine } from "./prepareLine";

const grid = "grid w-full grid-cols-[2rem_minmax(7rem,12rem)_1fr_4rem] items-center gap-x-3 max-sm:grid-cols-[2rem_1fr_4rem]";
/** On narrow windows below its text. */
const trackCell = "min-w-0 max-sm:order-last max-sm:col-span-3";

function Row({
  row,
  ticks,
  isChosen,
  onAgent,
}: {
  readonly row: LineRow;
  readonly ticks: Parameters<typeof Track>[0]["ticks"];
  readonly isChosen: boolean;
  readonly onAgent: (key: string) => void;
}) {
  const { identity, band, at } = row;
  return (
    <li>
      <button
        type="button"
        aria-pressed={isChosen}
        aria-label={row.says}
        title={row.says}
        onClick={() => onAgent(identity.key)}
        className={`${grid} rounded px-1 py-0.5 text-left text-sm ${isChosen ? "bg-accent-soft" : "hover:bg-sunken"}`}
      >
        <span className="text-right text-xs text-ink-3">{row.rank ?? "–"}</span>
        <span className="min-w-0">
          <span className="block truncate font-medium">{identity.name}</span>
          <span className="block truncate text-xs text-ink-3">{identity.application}</span>
        </span>
        <span className={trackCell}>
          <Track ticks={ticks}>
            {band !== null && (
              <span
                className="absolute top-2 h-2 rounded-full opacity-30"
                style={{ left: cssPercent(band.from), width: cssPercent(Math.max(0.002, band.to - band.from)), background: identity.hue }}
              />
            )}
            {at !== null && (
              <span
                className="absolute top-1 size-4 -translate-x-1/2 rounded-full border-2 border-panel"
                style={{ left: cssPercent(at), background: identity.hue }}
              />
            )}
          </Track>
        </span>
        <span className="text-right">{row.distance}</span>
      </button>
    </li>
  );
}

/** All agents on the line by which the policy orders them, first ones uppermost. */
export function LinePanel(props: {
  readonly agents: readonly AgentView[];
  readonly identities: AgentIdentities;
  readonly agent: string | null;
  readonly all: boolean;
  readonly onAgent: (key: string) => void;
  readonly onAll: (all: boolean) => void;
}) {
  const { agents, agent: chosen, all, identities } = props;
  const picture = useMemo(() => prepareLine(agents, { all, chosen, identities }), [agents, all, chosen, identities]);
  return (
    <Panel title="Agents on the line" className="[&>div]:pt-2">
      <div className={`${grid} px-1 pb-1`}>
        <span className="max-sm:hidden" />
        <span className="text-xs text-ink-3 max-sm:hidden" />
        <span className={trackCell}>
          <TrackAxis ticks={picture.ticks} />
        </span>
        <span className="text-right text-xs text-ink-3 max-sm:hidden">from zero</span>
      </div>
      <ol aria-label="Agents by their distance from zero" className="max-h-[40rem] list-none overflow-y-auto" data-testid="agent-line">
        {picture.rows.map((row) => (
          <Row key={row.identity.key} row={row} ticks={picture.ticks} isChosen={row.identity.key === chosen} onAgent={props.onAgent} />
        ))}
      </ol>
      {picture.left !== null && (
        <Button look="quiet" onClick={() => props.onAll(true)}>
          {picture.left}
        </Button>
      )}
      {all && agents.length > MOST_ON_LINE && (
        <Button look="quiet" onClick={() => props.onAll(false)}>
          Fewer agents
        </Button>
      )}
      <p className="mt-2 text-xs text-ink-3">
        ● distance of an agent's remaining latencies from zero, on one scale for all applications; the bar is the middle 80 % of
        measurements. With order workflow the smaller distance goes first; within an agent the program that started first. Waiting requests
        follow as distances change. A request that was passed over too often goes before all. Until an agent's latencies have converged it
        uses those of all agents.
      </p>
    </Panel>
  );
}
