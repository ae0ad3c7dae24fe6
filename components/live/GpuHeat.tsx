import type { LiveFrame } from "@/server/contracts/studio";
import { formatGibibytes, formatPercent } from "../ui/format";
import type { ModelIdentity } from "../ui/modelIdentity";
import { type HeatNode, heatNodes } from "./heatNodes";

function Cell({ cell, identity }: { readonly cell: HeatNode["gpus"][number]; readonly identity: ModelIdentity | undefined }) {
  const { gpu, memoryUse } = cell;
  const text = `GPU ${gpu.index}${cell.model === null ? ", free" : `, ${cell.model}`}: utilisation ${formatPercent(gpu.utilisation)}, memory ${formatGibibytes(gpu.memoryUsedBytes)} of ${formatGibibytes(gpu.memoryTotalBytes)}`;
  return (
    <li
      title={text}
      aria-label={text}
      className={`relative flex h-10 min-w-10 flex-1 flex-col items-center justify-center overflow-hidden rounded border text-xs ${gpu.utilisation === null ? "hatched" : ""}`}
      style={{
        ...(identity === undefined ? {} : { borderColor: identity.hue }),
        background:
          gpu.utilisation === null ? undefined : `color-mix(in oklab, var(--accent) ${Math.round(gpu.utilisation * 45)}%, var(--panel))`,
      }}
    >
      <span className="font-medium">{formatPercent(gpu.utilisation)}</span>
      <span className="text-[10px] leading-3">{identity?.letter ?? "·"}</span>
      {memoryUse !== null && (
        <span
          aria-hidden="true"
          className="absolute bottom-0 left-0 h-[3px] bg-ink-3"
          style={{ width: `${Math.min(1, memoryUse) * 100}%` }}
        />
      )}
    </li>
  );
}

/** GPUs by node: utilisation as depth of colour and as a number, memory as the bar below, the model as letter and border. */
export function GpuHeat({ frame, identities }: { readonly frame: LiveFrame; readonly identities: ReadonlyMap<string, ModelIdentity> }) {
  return (
    <div className="flex flex-col gap-2" data-testid="gpu-heat">
      {heatNodes(frame).map((node) => (
        <div key={node.name} className="flex items-center gap-2">
          <span className="w-16 shrink-0 truncate text-xs text-ink-3">{node.name}</span>
          <ul aria-label={`GPUs of ${node.name}`} className="flex min-w-0 flex-1 list-none gap-1">
            {node.gpus.map((cell) => (
              <Cell
                key={`${cell.gpu.index}/${cell.gpu.instance?.id ?? ""}`}
                cell={cell}
                identity={cell.model === null ? undefined : identities.get(cell.model)}
              />
            ))}
          </ul>
        </div>
      ))}
    </div>
  );
}
