"use client";

import { memo, useMemo } from "react";
import type { LiveFrame } from "@/server/contracts/studio";
import type { Plan } from "@/solver/plan/plan";
import { StateWord } from "../ui/Badge";
import { formatCount, formatRate, formatSeconds } from "../ui/format";
import type { ModelIdentity } from "../ui/modelIdentity";
import { Panel } from "../ui/Panel";
import { useModelIdentities } from "../ui/useModelIdentities";
import { EngineTable } from "./EngineTable";
import type { FrameState } from "./frameStore";
import { GpuHeat } from "./GpuHeat";
import { LiveChart } from "./LiveChart";
import { LiveFigures } from "./LiveFigures";
import { engineRows } from "./prepareEngines";
import { latencySeries, queueSeries, rateSeries, servedModels, stageRows } from "./prepareLive";
import { panicOf } from "./preparePanic";
import { SettlingWord } from "./SettlingWord";
import { StagePanel } from "./StagePanel";
import { settling } from "./settling";
import { useDrawn } from "./useDrawn";
import type { Live } from "./useLiveFrames";
import { usePredictedBands } from "./usePredictedBands";

type Identities = ReadonlyMap<string, ModelIdentity>;

const shown = (state: FrameState): readonly LiveFrame[] => state.shown;
const newestShown = (state: FrameState): LiveFrame | undefined => state.shown.at(-1);

const Figures = memo(function Figures({ live, plan }: { readonly live: Live; readonly plan: Plan | null }) {
  const frame = useDrawn(live, newestShown);
  if (frame === undefined) return null;
  return (
    <Panel title="Measured beside predicted">
      <LiveFigures frame={frame} plan={plan} />
    </Panel>
  );
});

const Stages = memo(function Stages(props: { readonly live: Live; readonly plan: Plan | null; readonly identities: Identities }) {
  const frame = useDrawn(props.live, newestShown);
  if (frame === undefined) return null;
  const panic = panicOf(frame);
  const unsettled = panic === null ? settling(frame, props.plan) : null;
  const aside =
    panic !== null ? <StateWord tone="warn">from before the panic</StateWord> : unsettled !== null && <SettlingWord settling={unsettled} />;
  return (
    <Panel title="Stages" {...(aside === false ? {} : { aside })}>
      <StagePanel rows={stageRows(frame, props.plan, props.identities)} pale={aside !== false} />
    </Panel>
  );
});

const Rates = memo(function Rates({ live, rangeSeconds }: { readonly live: Live; readonly rangeSeconds: number }) {
  const frames = useDrawn(live, shown);
  return <LiveChart title="Requests" frames={frames} series={rateSeries} rangeSeconds={rangeSeconds} format={formatRate} unit="/s" />;
});

const Queues = memo(function Queues(props: { readonly live: Live; readonly identities: Identities; readonly rangeSeconds: number }) {
  const frames = useDrawn(props.live, shown);
  const series = useMemo(() => queueSeries([...props.identities.keys()], props.identities), [props.identities]);
  return (
    <LiveChart title="Running and waiting" frames={frames} series={series} rangeSeconds={props.rangeSeconds} format={formatCount} unit="" />
  );
});

const Latencies = memo(function Latencies({ live, rangeSeconds }: { readonly live: Live; readonly rangeSeconds: number }) {
  const frames = useDrawn(live, shown);
  const bands = usePredictedBands(frames, rangeSeconds);
  return (
    <LiveChart
      title="Latency end to end"
      frames={frames}
      series={latencySeries}
      rangeSeconds={rangeSeconds}
      format={formatSeconds}
      unit=" s"
      bands={bands}
    />
  );
});

const Engines = memo(function Engines({ live, identities }: { readonly live: Live; readonly identities: Identities }) {
  return <EngineTable rows={engineRows(useDrawn(live, shown), identities)} />;
});

const Gpus = memo(function Gpus({ live, identities }: { readonly live: Live; readonly identities: Identities }) {
  const frame = useDrawn(live, newestShown);
  return frame === undefined ? null : <GpuHeat frame={frame} identities={identities} />;
});

/** Everything measured, each piece drawn in its own turn. */
export const Measurements = memo(function Measurements(props: {
  readonly live: Live;
  readonly plan: Plan | null;
  readonly rangeSeconds: number;
}) {
  const { live, plan, rangeSeconds } = props;
  const names = useDrawn(live, (state) => servedModels(state.shown, plan));
  const identities = useModelIdentities(names);
  return (
    <>
      <Figures live={live} plan={plan} />
      <Stages live={live} plan={plan} identities={identities} />
      <div className="grid gap-4 lg:grid-cols-3">
        <Rates live={live} rangeSeconds={rangeSeconds} />
        <Queues live={live} identities={identities} rangeSeconds={rangeSeconds} />
        <Latencies live={live} rangeSeconds={rangeSeconds} />
      </div>
      <div className="grid items-start gap-4 xl:grid-cols-[3fr_2fr]">
        <Panel title="Engines">
          <Engines live={live} identities={identities} />
        </Panel>
        <Panel title="GPUs" aside={<span>busy share, as GPUs report it; bar: memory in use</span>}>
          <Gpus live={live} identities={identities} />
        </Panel>
      </div>
    </>
  );
});
