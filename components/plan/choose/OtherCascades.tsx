import type { Plan } from "@/solver/plan/plan";
import { formatCounted, formatScore, formatSeconds } from "../../ui/format";
import { formatRouting, type RoutingChoice } from "../address/routingKey";

/** The other cascades that were considered; a click plans one. */
export function OtherCascades(props: {
  readonly alternatives: Plan["solver"]["alternatives"];
  /** Whether the plan's own cascade was chosen by hand, so that the others did not lose against it. */
  readonly chosen: boolean;
  readonly onChoose: (routing: RoutingChoice) => void;
}) {
  const { alternatives, chosen, onChoose } = props;
  return (
    <details>
      <summary className="text-sm font-medium text-ink-2">
        {chosen ? formatCounted(alternatives.length, "other cascade") : formatCounted(alternatives.length, "rejected cascade")}
      </summary>
      <ul aria-label="Other cascades" className="mt-2 flex list-none flex-col gap-1 text-sm">
        {alternatives.map(({ stages, thresholds, startBelow, quality, p95Seconds, gpus, reason }) => {
          const routing = { models: stages, thresholds, ...(startBelow !== undefined && { startBelow }) };
          return (
            <li key={formatRouting(routing)}>
              <button
                type="button"
                title="Choose this cascade and plan it"
                className="group w-full rounded-r-md border-l-2 py-1 pr-2 pl-3 text-left hover:border-accent hover:bg-sunken"
                onClick={() => onChoose(routing)}
              >
                <span className="font-medium group-hover:text-accent">{stages.join(" → ")}</span>{" "}
                <span className="text-ink-3">
                  {thresholds.length > 0 && `at ${thresholds.join(", ")} · `}
                  quality {formatScore(quality)}
                  {/* A cascade that is overloaded on any number of GPUs has neither. */}
                  {p95Seconds !== null && ` · p95 ${formatSeconds(p95Seconds)} · ${formatCounted(gpus, "GPU")}`}
                </span>
                <span className="block text-ink-2">{reason}</span>
              </button>
            </li>
          );
        })}
      </ul>
    </details>
  );
}
