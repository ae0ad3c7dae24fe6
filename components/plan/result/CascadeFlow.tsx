import type { FlowStage } from "@/components/charts/prepareCascadeFlow";
import { formatPercent } from "@/components/ui/format";
import { ModelChip } from "@/components/ui/ModelChip";

const HEIGHT = 72;
const BOX = 100;
const GAP = 100;

/** One band of escalated requests between two stages: its height is their share, and it falls over the threshold like water over a weir. */
function Fall({ stage, next }: { readonly stage: FlowStage; readonly next: FlowStage }) {
  const from = stage.onTop * HEIGHT;
  const to = (1 - stage.onHeight) * HEIGHT;
  return (
    <svg aria-hidden="true" viewBox={`0 0 ${GAP} ${HEIGHT}`} preserveAspectRatio="none" className="h-[72px] w-full">
      <path
        d={`M0 ${from}C${GAP / 2} ${from} ${GAP / 2} ${to} ${GAP} ${to}V${HEIGHT}H0Z`}
        fill={`color-mix(in oklab, ${next.identity.hue} 22%, var(--panel))`}
      />
    </svg>
  );
}

function Stage({ stage }: { readonly stage: FlowStage }) {
  const top = (1 - stage.share) * HEIGHT;
  return (
    <svg aria-hidden="true" viewBox={`0 0 ${BOX} ${HEIGHT}`} preserveAspectRatio="none" className="h-[72px] w-full">
      <rect x={0} y={top} width={BOX} height={HEIGHT - top} rx={3} fill={`color-mix(in oklab, ${stage.identity.hue} 30%, var(--panel))`} />
      <rect x={0} y={top} width={BOX} height={Math.min(3, HEIGHT - top)} fill={stage.identity.hue} />
    </svg>
  );
}

/** The cascade as a flow drawn to scale: the requests that reach each model, those that it answers, and the threshold of acceptance. */
export function CascadeFlow({ stages }: { readonly stages: readonly FlowStage[] }) {
  return (
    <ol aria-label="Cascade" className="flex min-w-0 list-none items-end overflow-x-auto">
      {stages.map((stage, index) => {
        const next = stages[index + 1];
        return (
          <li key={stage.identity.model} className="flex min-w-0 max-w-md flex-[2] items-end last:max-w-60 last:flex-[1.2]">
            <div className="min-w-28 flex-1">
              <Stage stage={stage} />
              <div className="mt-1.5 text-sm">
                <ModelChip identity={stage.identity} />
              </div>
              <div className="text-xs text-ink-3">
                {formatPercent(stage.share)} reach it,{" "}
                {index > 0 && stage.started > 0 ? `${formatPercent(stage.started)} start here, ` : ""}
                {formatPercent(stage.accepted)} end here
              </div>
            </div>
            {next !== undefined && (
              <div className="min-w-24 flex-[0.7]">
                <Fall stage={stage} next={next} />
                <div className="mt-1.5 text-center text-sm font-medium">
                  {stage.threshold === null ? "or" : `score < ${stage.threshold}`}
                </div>
                <div className="text-center text-xs text-ink-3">{formatPercent(stage.onHeight)} go on</div>
              </div>
            )}
          </li>
        );
      })}
    </ol>
  );
}
