"use client";

import { skipToken, useQuery } from "@tanstack/react-query";
import { memo } from "react";
import { useTRPC } from "@/components/api/trpc";
import { ErrorLine } from "@/components/ui/ErrorLine";
import { formatClock } from "@/components/ui/format";
import { Panel } from "@/components/ui/Panel";
import { useDebounced } from "@/components/ui/useDebounced";
import type { LiveFrame, RoutingFrame } from "@/server/contracts/studio";
import type { Plan } from "@/solver/plan/plan";
import { thresholdsOf } from "@/solver/plan/policySchema";
import type { Live } from "../stream/live";
import { useLiveFrames } from "../stream/useLiveFrames";
import { graceOf, predictedCost } from "./prepareGrace";

/** Thresholds that still move are not simulated. */
const SETTLED_MS = 3_000;
/** A forecast is at the present rate, which changes. */
const FRESH_MS = 30_000;

interface PredictedProps {
  readonly clusterId: string;
  readonly plan: Plan | null;
  readonly routing: RoutingFrame;
  readonly thresholds: readonly number[];
}

function Predicted({ clusterId, plan, routing, thresholds }: PredictedProps) {
  const trpc = useTRPC();
  const asked = JSON.stringify(thresholds);
  const isSettled = useDebounced(asked, SETTLED_MS) === asked;
  const { policyHash } = routing;
  const { data, error } = useQuery(
    trpc.gateway.forecastControls.queryOptions(isSettled ? { clusterId, policyHash, thresholds: [...thresholds] } : skipToken, {
      staleTime: FRESH_MS,
      retry: false,
    }),
  );
  if (!isSettled) return <p className="text-sm text-ink-3">Quality is predicted once the thresholds stay for some seconds.</p>;
  if (error !== null) return <ErrorLine error={error} />;
  if (data === undefined) return <p className="text-sm text-ink-3">Simulating these thresholds …</p>;
  if (!data.ok) return <p className="text-sm text-ink-2">{data.message}</p>;
  const isPlans = plan !== null && plan.id === routing.planId && same(thresholdsOf(plan.policy), thresholdsOf(routing.policy));
  return (
    <>
      <p className="text-sm">{predictedCost(data.forecast, isPlans ? plan.predictions.quality : null)}</p>
      <p className="text-xs text-ink-3">Simulated on the engines that serve now. {data.forecast.basis}</p>
    </>
  );
}

const same = (one: readonly number[], other: readonly number[]): boolean => one.join() === other.join();

/** Which thresholds overload has lowered, since when and by how much, and the quality predicted for that. Nothing while none is. */
export const GraceNotice = memo(function GraceNotice({ live, plan }: { readonly live: Live; readonly plan: Plan | null }) {
  const frame: LiveFrame | undefined = useLiveFrames(live, (state) => state.frames.at(-1));
  const routing = frame?.gateway.routing ?? null;
  const grace = frame === undefined ? null : graceOf(frame);
  if (frame === undefined || routing === null || grace === null) return null;
  const { lowered, thresholds, waiting } = grace;
  return (
    <Panel title="Grace under overload">
      <div className="flex flex-col gap-3" data-testid="grace">
        <ul className="flex list-none flex-col gap-1 text-sm">
          {lowered.map(({ model, planned, inForce, sinceMs }) => (
            <li key={model}>
              The threshold of <span className="font-medium">{model}</span> is {inForce} in place of {planned}, lowered since{" "}
              <time dateTime={new Date(sinceMs).toISOString()}>{formatClock(new Date(sinceMs).toISOString())}</time>.
            </li>
          ))}
        </ul>
        <p className="text-sm text-ink-2">
          {waiting === null ? "Too many" : `More than ${waiting}`} requests wait, or waited until a moment ago, for a later stage: fewer
          answers are escalated until its queue is short again.
        </p>
        <Predicted clusterId={frame.clusterId} plan={plan} routing={routing} thresholds={thresholds} />
      </div>
    </Panel>
  );
});
