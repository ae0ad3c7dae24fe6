"use client";

import dynamic from "next/dynamic";
import { type KeyboardEvent, memo, useMemo, useState } from "react";
import { type Mark, prepareFrontier } from "../charts/prepareFrontier";
import { formatCount, formatPercent } from "../ui/format";
import type { ModelIdentity } from "../ui/modelIdentity";
import { Panel } from "../ui/Panel";
import { PanelState } from "../ui/PanelState";
import { FrontierLegend } from "./FrontierLegend";
import { FrontierTable } from "./FrontierTable";
import { MAX_PINS } from "./planCodec";
import { type Baseline, prepareFrontierTable } from "./prepareFrontierTable";
import { formatRouting } from "./routingKey";
import { routingOf } from "./routingOf";
import type { Planning } from "./usePlanning";

const FrontierChart = dynamic(() => import("../charts/FrontierChart"), { ssr: false, loading: () => <div className="h-80" /> });

/** The next plan along the frontier from the one at hand. */
function stepAlong(frontier: readonly { readonly routing: number }[], from: number | null, by: 1 | -1): number | null {
  const at = frontier.findIndex((point) => point.routing === from);
  const next = at === -1 ? (by === 1 ? 0 : frontier.length - 1) : Math.min(frontier.length - 1, Math.max(0, at + by));
  return frontier[next]?.routing ?? null;
}

/** The frontier of this workload on this cluster, as chart and table that follow each other. */
export const FrontierPanel = memo(function FrontierPanel(props: {
  readonly planning: Planning;
  readonly identities: ReadonlyMap<string, ModelIdentity>;
  readonly running: (Mark & Baseline) | null;
  readonly pins: readonly string[];
  readonly onPins: (pins: readonly string[]) => void;
  readonly onFloorDraft: (floor: number) => void;
  readonly onFloorCommit: (floor: number) => void;
}) {
  const { planning, running, pins, identities } = props;
  const { exploration, choice, knobs } = planning;
  const [hovered, setHovered] = useState<number | null>(null);
  const picture = useMemo(
    () => (exploration === null || choice === null ? null : prepareFrontier({ exploration, choice, knobs, running })),
    [exploration, choice, knobs, running],
  );
  const table = useMemo(
    () => (exploration === null || choice === null ? null : prepareFrontierTable({ exploration, choice, pins, running })),
    [exploration, choice, pins, running],
  );
  const hues = useMemo(
    () => (exploration?.models ?? []).map((model) => identities.get(model)?.hue ?? "var(--ink-2)"),
    [exploration, identities],
  );
  const pinned = useMemo(() => (table?.rows ?? []).filter((row) => row.pinned).map((row) => row.routing), [table]);

  function togglePin(routing: number) {
    if (exploration === null) return;
    const key = formatRouting(routingOf(exploration, routing));
    props.onPins(pins.includes(key) ? pins.filter((each) => each !== key) : [...pins, key].slice(-MAX_PINS));
  }
  function onKeyDown(event: KeyboardEvent) {
    if (picture === null) return;
    if (event.key === "ArrowRight") setHovered(stepAlong(picture.frontier, hovered, 1));
    else if (event.key === "ArrowLeft") setHovered(stepAlong(picture.frontier, hovered, -1));
    else if (event.key === "Enter" && hovered !== null) togglePin(hovered);
    else if (event.key === "Escape") props.onPins([]);
    else return;
    event.preventDefault();
  }

  return (
    <Panel
      title="Frontier"
      aside={
        picture === null ? undefined : (
          <span>
            {formatCount(picture.counts.feasible)} of {formatCount(picture.counts.evaluated)} cascades meet floor and budget
          </span>
        )
      }
    >
      <PanelState status={planning.status}>
        {() =>
          picture !== null &&
          table !== null && (
            <div className="flex flex-col gap-2">
              {/* biome-ignore lint/a11y/useSemanticElements: a chart is no fieldset. */}
              {/* biome-ignore lint/a11y/noNoninteractiveTabindex: the group takes arrow keys along the frontier. */}
              <div role="group" aria-label="Frontier chart" tabIndex={0} onKeyDown={onKeyDown}>
                <FrontierChart
                  picture={picture}
                  hues={hues}
                  xLabel={knobs.qualityConfidence === null ? "quality" : `quality, lower ${formatPercent(knobs.qualityConfidence)} bound`}
                  yLabel={knobs.latency === "end-to-end" ? "p95 end to end" : "largest stage p95"}
                  floor={knobs.qualityFloor}
                  budgetSeconds={knobs.latencyBudgetSeconds}
                  hovered={hovered}
                  pinned={pinned}
                  onHover={setHovered}
                  onPin={togglePin}
                  onFloorDraft={props.onFloorDraft}
                  onFloorCommit={props.onFloorCommit}
                />
              </div>
              <FrontierLegend counts={picture.counts} running={picture.running !== null} />
              <FrontierTable table={table} identities={identities} hovered={hovered} onHover={setHovered} onPin={togglePin} />
            </div>
          )
        }
      </PanelState>
    </Panel>
  );
});
