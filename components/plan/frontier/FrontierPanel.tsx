"use client";

import dynamic from "next/dynamic";
import { type KeyboardEvent, memo, useCallback, useMemo, useState } from "react";
import { axisLabel } from "@/components/charts/frontierAxes";
import { brushByKey } from "@/components/charts/frontierBrush";
import type { FrontierPicture, LimitLine } from "@/components/charts/prepareFrontier";
import { formatCount, formatCounted, formatFineRate, formatRate } from "@/components/ui/format";
import type { ModelIdentity } from "@/components/ui/modelIdentity";
import { Panel } from "@/components/ui/Panel";
import { PanelState } from "@/components/ui/PanelState";
import type { Knobs } from "@/solver/cascade/explore/exploration";
import type { PolicyChoice } from "@/solver/plan/planSlack";
import { type FrontierView, MAX_PINS } from "../address/frontierCodec";
import { BUDGET_BOUNDS, type PlanView } from "../address/planCodec";
import { parsePin, type RoutingChoice } from "../address/routingKey";
import { JobProgress } from "../planning/JobProgress";
import type { Planning } from "../planning/usePlanning";
import { BaselineBar } from "./BaselineBar";
import { BetterBanner } from "./BetterBanner";
import { CompareTray } from "./CompareTray";
import { describePoint } from "./describePoint";
import { BrushChip, FrontierControls } from "./FrontierControls";
import { FrontierLegend } from "./FrontierLegend";
import { FrontierTable } from "./FrontierTable";
import { baselineChange, planChange } from "./planChange";
import { compareText, type RunningPlan } from "./prepareCompare";
import { useBaselines } from "./useBaselines";
import { usePreparedFrontier } from "./usePreparedFrontier";

const FrontierChart = dynamic(() => import("@/components/charts/FrontierChart"), { ssr: false, loading: () => <div className="h-80" /> });

const sides = { ArrowLeft: "left", ArrowRight: "right", ArrowUp: "up", ArrowDown: "down" } as const;

/** The actions on a plan of the chart. On a separate line: a longer status would wrap and move the buttons. */
const CHOOSE_HINT = "Click or Enter chooses a plan; Shift-click or p pins it.";

/** The next plan along the frontier from the current one. */
function stepAlong({ frontier }: FrontierPicture, from: string | null, by: 1 | -1): string | null {
  const at = frontier.findIndex((point) => point.key === from);
  const next = at === -1 ? (by === 1 ? 0 : frontier.length - 1) : Math.min(frontier.length - 1, Math.max(0, at + by));
  return frontier[next]?.key ?? null;
}

/** The knob of a constraint line. */
function knobOf({ kind, value }: LimitLine): Pick<Knobs, "qualityFloor"> | Pick<Knobs, "latencyBudgetSeconds"> {
  return kind === "floor" ? { qualityFloor: value } : { latencyBudgetSeconds: Math.max(BUDGET_BOUNDS.min, value) };
}

/** Why there is nothing to draw, and the remedy. */
function nothingKeepsUp({ counts }: FrontierPicture, requestsPerSecond: number | null, { maxGpus }: Pick<Knobs, "maxGpus">): string {
  const all =
    counts.evaluated === 1 ? "The only evaluated plan does not keep" : `None of ${formatCount(counts.evaluated)} evaluated plans keeps`;
  return `${all} up with ${formatRate(requestsPerSecond)} on ${formatCounted(maxGpus, "GPU")}. Plan for fewer requests or more GPUs.`;
}

/** The frontier of this workload on this cluster over two axes, as chart, table and tray of pinned plans with a shared selection. */
export const FrontierPanel = memo(function FrontierPanel(props: {
  readonly planning: Planning;
  readonly identities: ReadonlyMap<string, ModelIdentity>;
  readonly running: RunningPlan | null;
  /** Whether the cluster has several GPU types. */
  readonly mixed: boolean;
  /** The kinds of policies that are asked for. */
  readonly policy: PolicyChoice;
  /** The constraints that are asked for. */
  readonly constraints: PlanView["constraints"];
  readonly view: FrontierView;
  /** The cascade chosen by hand; null: none. */
  readonly fixed: RoutingChoice | null;
  readonly onDraft: (draft: Partial<Knobs>) => void;
  readonly onChange: (change: Partial<PlanView>, how: "push" | "replace") => void;
  /** For thresholds of the exact plan's own gate: its own, and those of its baselines. */
  readonly onChangeOfPlan: (change: Partial<PlanView>, how: "push" | "replace") => void;
}) {
  const { planning, running, mixed, policy, constraints, view, fixed, identities, onDraft, onChange, onChangeOfPlan } = props;
  const { exploration, knobs } = planning;
  const [hovered, setHovered] = useState<string | null>(null);
  const baselines = useBaselines(planning.exact, view.baselines);
  const prepared = usePreparedFrontier({ planning, policy, view, fixed, running, baselines });
  const hues = useMemo(
    () => (exploration?.models ?? []).map((model) => identities.get(model)?.hue ?? "var(--ink-2)"),
    [exploration, identities],
  );
  const { pins } = view;
  const togglePin = useCallback(
    (key: string) => {
      if (parsePin(key) === null) return;
      onChange({ pins: pins.includes(key) ? pins.filter((each) => each !== key) : [...pins, key].slice(-MAX_PINS) }, "push");
    },
    [pins, onChange],
  );

  const dispatch = planning.dispatch.exploration;
  const { xAxis, yAxis } = view;
  const solvedKey = prepared?.solvedKey ?? null;
  const choose = useCallback(
    (key: string) => {
      const change = planChange(key, { policy, axes: { x: xAxis, y: yAxis }, dispatch });
      if (change !== null) (key === solvedKey ? onChangeOfPlan : onChange)(change, "push");
    },
    [policy, xAxis, yAxis, dispatch, solvedKey, onChange, onChangeOfPlan],
  );

  const pointed =
    hovered === null
      ? undefined
      : (prepared?.plans.find(({ key }) => key === hovered) ?? baselines.systems.find(({ key }) => key === hovered));

  function onKeyDown(event: KeyboardEvent) {
    if (prepared === null) return;
    const { picture, axes } = prepared;
    const side = sides[event.key as keyof typeof sides];
    if (side !== undefined && event.shiftKey) {
      const around = picture.points.find((point) => point.key === hovered) ?? picture.chosen ?? picture.frontier[0];
      if (around === undefined) return;
      onChange({ brush: brushByKey(view.brush, side, { view: picture, axes, around }) }, "replace");
    } else if (event.key === "ArrowRight") setHovered(stepAlong(picture, hovered, 1));
    else if (event.key === "ArrowLeft") setHovered(stepAlong(picture, hovered, -1));
    else if (event.key === "Enter" && hovered !== null) choose(hovered);
    else if (event.key === "p" && hovered !== null) togglePin(hovered);
    else if (event.key === "Escape") onChange(view.brush === null ? { pins: [] } : { brush: null }, "push");
    else return;
    event.preventDefault();
  }

  return (
    <Panel
      title="Frontier"
      aside={
        <>
          <JobProgress job={planning.exploring} again="Evaluate cascades" />
          {planning.searchesRate && exploration !== null && (
            <span data-testid="frontier-rate" title="Figures of the frontier are at this rate">
              at {formatFineRate(exploration.requestsPerSecond)}
            </span>
          )}
          {prepared !== null && (
            <span title="Plans that meet the floor and the budget, of all that were evaluated">
              {formatCount(prepared.picture.counts.feasible)} of {formatCount(prepared.picture.counts.evaluated)} feasible
            </span>
          )}
        </>
      }
    >
      <PanelState status={planning.status}>
        {() =>
          prepared !== null && (
            <div className="flex flex-col gap-2">
              <FrontierControls view={view} onView={onChange} />
              {prepared.picture.points.length === 0 ? (
                <p role="status" className="py-8 text-center text-sm text-ink-2">
                  {nothingKeepsUp(prepared.picture, exploration?.requestsPerSecond ?? null, knobs)}
                </p>
              ) : (
                <>
                  {/* biome-ignore lint/a11y/useSemanticElements: a chart is no fieldset. */}
                  {/* biome-ignore lint/a11y/noNoninteractiveTabindex: the group takes arrow keys along the frontier. */}
                  <div role="group" aria-label="Frontier chart" tabIndex={0} onKeyDown={onKeyDown}>
                    <FrontierChart
                      picture={prepared.picture}
                      hues={hues}
                      xLabel={axisLabel(view.xAxis, knobs, mixed)}
                      yLabel={axisLabel(view.yAxis, knobs, mixed)}
                      brush={view.brush}
                      hovered={hovered}
                      pinned={pins}
                      onHover={setHovered}
                      onChoose={choose}
                      onPin={togglePin}
                      onLimitDraft={(line) => onDraft(knobOf(line))}
                      onLimitCommit={(line) => onChange(knobOf(line), "replace")}
                      onBrush={(brush) => onChange({ brush }, "push")}
                    />
                  </div>
                </>
              )}
              {/* Its line is reserved while no point is selected, so that the content below does not jump. */}
              <p role="status" className="min-h-4 text-xs text-ink-2">
                {pointed !== undefined && describePoint(pointed)}
              </p>
              <p className="text-xs text-ink-3">{CHOOSE_HINT}</p>
              <FrontierLegend picture={prepared.picture} baselines={baselines.systems} otherTraffic={running?.otherTraffic ?? null} />
              {view.baselines && <BaselineBar baselines={baselines} />}
              {pins.length > 0 && (
                <CompareTray
                  comparison={prepared.comparison}
                  otherTraffic={running?.otherTraffic ?? null}
                  text={compareText(prepared.pinned, running, {
                    quality: axisLabel("quality", knobs, mixed),
                    latency: axisLabel("latency", knobs, mixed),
                  })}
                  identities={identities}
                  onChoose={choose}
                  onUnpin={togglePin}
                />
              )}
              {view.brush !== null && (
                <BrushChip
                  brush={view.brush}
                  axes={prepared.axes}
                  plans={formatCounted(prepared.table.rows.length + prepared.table.cut, "plan")}
                  onClear={() => onChange({ brush: null }, "push")}
                />
              )}
              {prepared.better !== null && (
                <BetterBanner
                  banner={prepared.better}
                  onPlan={(baseline) => onChangeOfPlan(baselineChange(baseline, { policy, constraints }), "push")}
                />
              )}
              <FrontierTable
                table={prepared.table}
                recommended={prepared.word}
                better={prepared.better?.key ?? null}
                mixed={mixed}
                identities={identities}
                hovered={hovered}
                onHover={setHovered}
                onChoose={choose}
                onPin={togglePin}
              />
            </div>
          )
        }
      </PanelState>
    </Panel>
  );
});
