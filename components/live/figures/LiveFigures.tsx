import { DoubtBadge } from "@/components/plan/result/DoubtBadge";
import { type Doubt, extrapolated } from "@/components/plan/result/prepareStages";
import { isTurned } from "@/components/routing/prepareKnobs";
import { StateWord } from "@/components/ui/Badge";
import { formatCount, formatRate, formatScore, formatScoreSpan, formatSeconds, formatSecondsSpan } from "@/components/ui/format";
import type { LiveFrame, MeasuredRange } from "@/server/contracts/studio";
import type { Plan } from "@/solver/plan/plan";
import { promisedBy } from "../charts/promisedBy";
import { beforePanic, panicOf } from "../stream/preparePanic";
import { countSays, overRange, windowSays } from "./measuredWindow";
import { prepareSilence } from "./prepareSilence";
import { SettlingBadge } from "./SettlingBadge";
import { settling } from "./settling";

function Pair(props: {
  readonly name: string;
  readonly measured: string;
  /** The number of requests and the time range. */
  readonly over?: string;
  readonly beside: string;
  readonly testId: string;
  readonly pale?: boolean;
  /** Of the prediction. */
  readonly doubt?: Doubt | null;
}) {
  return (
    <div className="flex flex-col gap-0.5">
      <dt className="text-xs text-ink-3">{props.name}</dt>
      <dd
        className={`text-2xl font-semibold tracking-tight whitespace-nowrap ${props.pale ? "text-ink-3" : ""}`}
        data-testid={`measured-${props.testId}`}
      >
        {props.measured}
      </dd>
      {props.over !== undefined && (
        <dd className="max-w-64 text-xs text-ink-2" data-testid={`over-${props.testId}`}>
          {props.over}
        </dd>
      )}
      <dd className="text-xs text-ink-3" data-testid={`predicted-${props.testId}`}>
        {props.beside} {props.doubt && <DoubtBadge doubt={props.doubt} />}
      </dd>
    </div>
  );
}

/** Measured figures, large, with the plan's promise below each. */
export function LiveFigures(props: {
  readonly frame: LiveFrame;
  readonly plan: Plan | null;
  /** For the page's range; null until it is known, while the figures are those of the measuring window. */
  readonly range: MeasuredRange | null;
  /** Whether the range follows the present. */
  readonly follows: boolean;
}) {
  const { frame, plan, range, follows } = props;
  const { measured, gateway } = overRange(frame, range);
  const window = windowSays({ measured }, range, follows);
  const panic = panicOf(frame);
  const unsettled = panic === null ? settling(frame, plan) : null;
  const silence = prepareSilence(frame);
  const pale = unsettled !== null || panic !== null || silence !== null;
  const predictions = promisedBy(plan);
  const unpredicted =
    plan === null
      ? "no plan, no prediction"
      : plan.predictions.mix === undefined
        ? "models chosen just in time: not predicted"
        : "of calls; predicted by class under Predicted and measured";
  return (
    <>
      {panic === null && isTurned(gateway.routing, plan) && (
        <p className="mb-3 text-sm text-ink-2">Controls are set by hand: predictions are for the planned controls.</p>
      )}
      {panic !== null && <p className="mb-3 text-sm text-warn">{beforePanic(panic)}</p>}
      <dl className="flex flex-wrap gap-x-8 gap-y-4">
        <Pair
          name="p95 end to end, measured"
          testId="p95"
          pale={pale}
          doubt={predictions === null ? null : extrapolated(predictions.stages)}
          measured={formatSeconds(measured.p95Seconds)}
          over={`${countSays(measured.requests, "p95")}, ${window}`}
          beside={
            predictions === null
              ? unpredicted
              : `predicted ${formatSeconds(predictions.p95Seconds)} (${formatSecondsSpan(predictions.p95Band)})`
          }
        />
        <Pair
          name="Quality, measured"
          testId="quality"
          pale={pale}
          measured={formatScore(measured.meanQuality)}
          over={
            measured.meanQuality === null
              ? "no answer has a label"
              : `${countSays(range?.labelled ?? measured.requests, "mean")}, ${window}`
          }
          beside={
            predictions === null
              ? unpredicted
              : `predicted ${formatScore(predictions.quality)} (${formatScoreSpan(predictions.qualityBand)})`
          }
        />
        <Pair
          name="Requests"
          testId="rate"
          pale={silence !== null}
          measured={formatRate(gateway.requestsPerSecond)}
          beside={plan === null ? "no plan" : `planned for ${formatRate(plan.inputs.workload.requestsPerSecond)}`}
        />
        <div className="flex flex-col gap-0.5">
          <dt className="text-xs text-ink-3">Measured over</dt>
          <dd className={`text-2xl font-semibold tracking-tight ${pale ? "text-ink-3" : ""}`}>{formatCount(measured.requests)}</dd>
          <dd className="max-w-64 text-xs text-ink-3">requests, {window}</dd>
          {silence !== null && (
            <dd>
              <StateWord tone="warn">{silence}</StateWord>
            </dd>
          )}
          {unsettled !== null && silence === null && (
            <dd>
              <SettlingBadge settling={unsettled} />
            </dd>
          )}
          {panic !== null && (
            <dd>
              <StateWord tone="warn">from before the panic</StateWord>
            </dd>
          )}
        </div>
      </dl>
    </>
  );
}
