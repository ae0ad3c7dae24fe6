"use client";

import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { memo, useMemo } from "react";
import { useTRPC } from "@/components/api/trpc";
import type { TimeWindow } from "@/components/charts/chartSpec";
import { Notes } from "@/components/ui/Notes";
import { PanelState } from "@/components/ui/PanelState";
import type { FollowedCharts, LiveFrame } from "@/server/contracts/studio";
import type { Scope } from "../address/liveCodec";
import type { Live } from "../stream/live";
import { wantedAs } from "../stream/useLiveStream";
import { useLiveStreamValue } from "../stream/useLiveStreamValue";
import { LiveChart } from "./LiveChart";
import type { LiveChartSpec } from "./liveCharts";
import type { PlanSpan } from "./prepareBands";
import { emptyWord } from "./prepareMissing";

/** Up to this number, charts are arranged in pairs. */
const EVEN_PAIRS = 4;

/** Titles of a row take the height of the longest, so that plots side by side begin at one height. */
const EVEN_TITLES = "[&>section]:row-span-2 [&>section]:grid [&>section]:grid-cols-1 [&>section]:grid-rows-subgrid [&>section]:gap-0";

/** Engines whose missing metrics explain empty charts of a scope. */
function enginesOf(frame: LiveFrame | undefined, scope: Scope, of: string | null): LiveFrame["engines"] {
  const engines = frame?.engines ?? [];
  if (scope === "model") return engines.filter(({ model }) => model === of);
  return scope === "engine" ? engines.filter(({ id }) => id === of) : engines;
}

/**
 * The charts of a scope: live up to now, or for a fixed range. The old ones stay, paled, until the requested ones have arrived.
 */
export const ChartGrid = memo(function ChartGrid(props: {
  readonly live: Live;
  readonly clusterId: string;
  readonly scope: Scope;
  readonly of: string | null;
  readonly charts: readonly LiveChartSpec[];
  /** Titles of charts that one stream cannot carry. */
  readonly left: readonly string[];
  readonly followed: FollowedCharts;
  readonly zoom: TimeWindow | null;
  readonly spans: readonly PlanSpan[];
  readonly pale: boolean;
  readonly onZoom: (window: TimeWindow) => void;
}) {
  const { live, clusterId, scope, of, charts, followed, zoom } = props;
  const trpc = useTRPC();
  const columns = useLiveStreamValue(live, ({ shown }) => shown.columns);
  // Columns and their time range change together, once per beat.
  const present = useMemo(() => {
    const frame = live.store.getState().shown.at(-1);
    const toMs = frame?.atMs ?? 0;
    return { columns, frame, window: { fromMs: toMs - followed.spanMs, toMs } };
  }, [live, columns, followed.spanMs]);
  const { points, series } = followed;
  const fixed = useQuery(
    trpc.live.range.queryOptions(
      { clusterId, fromMs: zoom?.fromMs ?? 0, toMs: zoom?.toMs ?? 1, points, series: [...series] },
      { enabled: zoom !== null && series.length > 0, placeholderData: keepPreviousData },
    ),
  );
  const range = zoom === null ? present.columns?.range : (fixed.data ?? present.columns?.range);
  if (fixed.error !== null && zoom !== null) {
    return <PanelState status={{ kind: "error", message: fixed.error.message, retry: fixed.refetch }}>{() => null}</PanelState>;
  }
  if (range === undefined) return <PanelState status={{ kind: "loading", what: "Reading stored measurements" }}>{() => null}</PanelState>;
  const waiting = zoom === null ? present.columns?.wanted !== wantedAs(followed) : fixed.data === undefined || fixed.isPlaceholderData;
  const problems = [
    ...range.problems,
    ...(props.left.length === 0
      ? []
      : [`There is too much to draw at once: ${props.left.join(", ")} is left out. Choose one model or node.`]),
  ];
  const engines = enginesOf(present.frame, scope, of);
  return (
    <section aria-label="Charts" aria-busy={waiting} className="flex flex-col gap-3">
      <Notes items={problems} role="status" className="rounded-md bg-warn-soft px-3 py-1.5 text-sm text-warn" />
      <div
        className={`grid gap-3 ${EVEN_TITLES} min-[900px]:grid-cols-2 ${charts.length > EVEN_PAIRS ? "min-[1280px]:grid-cols-3" : ""} ${waiting || props.pale ? "opacity-60" : ""}`}
      >
        {charts.map((spec) => (
          <LiveChart
            key={spec.id}
            spec={spec}
            range={range}
            window={zoom ?? present.window}
            spans={props.spans}
            crosshair={live.crosshair}
            onZoom={props.onZoom}
            empty={waiting ? "Loading…" : emptyWord(spec, present.frame, engines)}
          />
        ))}
      </div>
    </section>
  );
});
