"use client";

import { memo } from "react";
import { JudgeState } from "@/components/judges/JudgeState";
import { StateWord } from "@/components/ui/Badge";
import { Panel } from "@/components/ui/Panel";
import type { LiveFrame, MeasuredRange } from "@/server/contracts/studio";
import type { Plan } from "@/solver/plan/plan";
import type { Identities } from "../charts/liveCharts";
import { EngineDetail } from "../engines/EngineDetail";
import { EngineTable } from "../engines/EngineTable";
import { GpuHeat } from "../engines/GpuHeat";
import { engineRows } from "../engines/prepareEngines";
import type { FrameState } from "../stream/frameStore";
import type { Live } from "../stream/live";
import { panicOf } from "../stream/preparePanic";
import { useLiveFrames } from "../stream/useLiveFrames";
import { LiveFigures } from "./LiveFigures";
import { countSays, overRange, windowSays } from "./measuredWindow";
import { lineOf, stageRows } from "./prepareLive";
import { prepareSilence } from "./prepareSilence";
import { SettlingBadge } from "./SettlingBadge";
import { StagePanel } from "./StagePanel";
import { settling } from "./settling";

const shown = (state: FrameState): readonly LiveFrame[] => state.shown;
const newestShown = (state: FrameState): LiveFrame | undefined => state.shown.at(-1);

/** The measurements over the page's range, and whether it follows the present. */
interface Ranged {
  readonly live: Live;
  readonly plan: Plan | null;
  readonly range: MeasuredRange | null;
  readonly follows: boolean;
}

export const Figures = memo(function Figures({ live, plan, range, follows }: Ranged) {
  const frame = useLiveFrames(live, newestShown);
  if (frame === undefined) return null;
  return (
    <Panel title="Measured and predicted">
      <LiveFigures frame={frame} plan={plan} range={range} follows={follows} />
    </Panel>
  );
});

export const Stages = memo(function Stages(props: Ranged & { readonly identities: Identities }) {
  const frame = useLiveFrames(props.live, newestShown);
  if (frame === undefined) return null;
  const panic = panicOf(frame);
  const unsettled = panic === null ? settling(frame, props.plan) : null;
  const silence = prepareSilence(frame);
  const doubt =
    silence !== null ? (
      <StateWord tone="warn">{silence}</StateWord>
    ) : panic !== null ? (
      <StateWord tone="warn">from before the panic</StateWord>
    ) : (
      unsettled !== null && <SettlingBadge settling={unsettled} />
    );
  const ranged = overRange(frame, props.range);
  const over = `share, scores and p95: ${countSays(ranged.measured.requests, "p95")}, ${windowSays(ranged, props.range, props.follows)}`;
  return (
    <Panel
      title="Stages"
      aside={
        <>
          {doubt}
          <span>{over}</span>
        </>
      }
    >
      <StagePanel rows={stageRows(ranged, props.plan, props.identities)} pale={doubt !== false} line={lineOf(frame)} />
      {frame.gateway.judge !== null && (
        <p className="mt-3 flex flex-wrap items-baseline gap-2 text-sm" data-testid="judge-state">
          <span className="text-ink-3">Judge {frame.gateway.judge.model}</span>
          <JudgeState health={frame.gateway.judge} nowMs={frame.atMs} />
        </p>
      )}
    </Panel>
  );
});

/** The engines of one model, or all. */
export const Engines = memo(function Engines(props: {
  readonly live: Live;
  readonly identities: Identities;
  readonly model: string | null;
}) {
  const { live, identities, model } = props;
  const rows = engineRows(useLiveFrames(live, shown), identities);
  return (
    <Panel title="Engines">
      <EngineTable rows={model === null ? rows : rows.filter(({ engine }) => engine.model === model)} />
    </Panel>
  );
});

/** All metrics that one engine reports. */
export const Readings = memo(function Readings({ live, id }: { readonly live: Live; readonly id: string }) {
  const frame = useLiveFrames(live, newestShown);
  if (frame === undefined) return null;
  const engine = frame.engines.find((each) => each.id === id);
  return (
    <Panel title="Readings">
      {engine === undefined ? (
        <p className="text-sm text-ink-3">{id} is not among the engines now. Its stored measurements are drawn above.</p>
      ) : (
        <EngineDetail engine={engine} nowMs={frame.atMs} />
      )}
    </Panel>
  );
});

export const Gpus = memo(function Gpus({ live, identities }: { readonly live: Live; readonly identities: Identities }) {
  const frame = useLiveFrames(live, newestShown);
  if (frame === undefined) return null;
  return (
    <Panel title="GPUs" aside={<span>busy share, as GPUs report it; bar: memory in use</span>}>
      <GpuHeat frame={frame} identities={identities} />
    </Panel>
  );
});
