"use client";

import { memo } from "react";
import type { LiveFrame, MeasuredRange } from "@/server/contracts/studio";
import type { Plan } from "@/solver/plan/plan";
import { JudgeState } from "../judges/JudgeState";
import { StateWord } from "../ui/Badge";
import { Panel } from "../ui/Panel";
import { EngineDetail } from "./EngineDetail";
import { EngineTable } from "./EngineTable";
import type { FrameState } from "./frameStore";
import { GpuHeat } from "./GpuHeat";
import { LiveFigures } from "./LiveFigures";
import type { Live } from "./live";
import type { Identities } from "./liveCharts";
import { countSays, overRange, windowSays } from "./measuredWindow";
import { engineRows } from "./prepareEngines";
import { lineOf, stageRows } from "./prepareLive";
import { panicOf } from "./preparePanic";
import { prepareSilence } from "./prepareSilence";
import { SettlingWord } from "./SettlingWord";
import { StagePanel } from "./StagePanel";
import { settling } from "./settling";
import { useDrawn } from "./useDrawn";

const shown = (state: FrameState): readonly LiveFrame[] => state.shown;
const newestShown = (state: FrameState): LiveFrame | undefined => state.shown.at(-1);

/** What was measured over the page's range, and whether that follows the present. */
interface Ranged {
  readonly live: Live;
  readonly plan: Plan | null;
  readonly range: MeasuredRange | null;
  readonly follows: boolean;
}

export const Figures = memo(function Figures({ live, plan, range, follows }: Ranged) {
  const frame = useDrawn(live, newestShown);
  if (frame === undefined) return null;
  return (
    <Panel title="Measured beside predicted">
      <LiveFigures frame={frame} plan={plan} range={range} follows={follows} />
    </Panel>
  );
});

export const Stages = memo(function Stages(props: Ranged & { readonly identities: Identities }) {
  const frame = useDrawn(props.live, newestShown);
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
      unsettled !== null && <SettlingWord settling={unsettled} />
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
  const rows = engineRows(useDrawn(live, shown), identities);
  return (
    <Panel title="Engines">
      <EngineTable rows={model === null ? rows : rows.filter(({ engine }) => engine.model === model)} />
    </Panel>
  );
});

/** All that one engine says of itself. */
export const Readings = memo(function Readings({ live, id }: { readonly live: Live; readonly id: string }) {
  const frame = useDrawn(live, newestShown);
  if (frame === undefined) return null;
  const engine = frame.engines.find((each) => each.id === id);
  return (
    <Panel title="Readings">
      {engine === undefined ? (
        <p className="text-sm text-ink-3">{id} is not among the engines now. What was kept of it is drawn above.</p>
      ) : (
        <EngineDetail engine={engine} nowMs={frame.atMs} />
      )}
    </Panel>
  );
});

export const Gpus = memo(function Gpus({ live, identities }: { readonly live: Live; readonly identities: Identities }) {
  const frame = useDrawn(live, newestShown);
  if (frame === undefined) return null;
  return (
    <Panel title="GPUs" aside={<span>busy share, as GPUs report it; bar: memory in use</span>}>
      <GpuHeat frame={frame} identities={identities} />
    </Panel>
  );
});
