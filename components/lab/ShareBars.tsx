import { formatPercent } from "../ui/format";
import { ModelMark } from "../ui/ModelChip";
import { useModelIdentities } from "../ui/useModelIdentities";
import type { ShareRow } from "./prepareFigures";
import { SystemChip } from "./SystemChip";

/** The share of answers by model under each system, and the utilisation of its engines. */
export function ShareBars({ rows, models }: { readonly rows: readonly ShareRow[]; readonly models: readonly string[] }) {
  const identities = useModelIdentities(models);
  return (
    <ul aria-label="Shares of models" className="flex list-none flex-col gap-3">
      {rows.map(({ mark, models: shares }) => (
        <li key={mark.index} className="flex flex-col gap-1 text-sm">
          <SystemChip mark={mark} />
          <div aria-hidden="true" className="flex h-3 w-full overflow-hidden rounded bg-line">
            {shares.map(({ model, share }) => (
              <span
                key={model}
                className="h-full border-r border-panel last:border-0"
                style={{ width: `${share * 100}%`, background: identities.get(model)?.hue }}
              />
            ))}
          </div>
          <p className="flex flex-wrap gap-x-4 gap-y-0.5 text-xs text-ink-3">
            {shares.map(({ model, share, fullShare }) => {
              const identity = identities.get(model);
              return (
                <span key={model} className="inline-flex items-center gap-1">
                  {identity !== undefined && <ModelMark identity={identity} />}
                  {model} {formatPercent(share)}, engines {formatPercent(fullShare)} full
                </span>
              );
            })}
          </p>
        </li>
      ))}
    </ul>
  );
}
