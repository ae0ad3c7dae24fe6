"use client";

import { ClusterLink } from "../shell/ClusterLink";
import { Badge } from "../ui/Badge";
import { formatCounted, formatDate } from "../ui/format";
import { ModelMark } from "../ui/ModelChip";
import { Table } from "../ui/Table";
import { useModelIdentities } from "../ui/useModelIdentities";
import { JudgeBadge } from "./JudgeBadge";
import { OriginBadges } from "./OriginBadges";
import type { WorkloadGroup, WorkloadRow } from "./prepareWorkloads";

const columns = [
  { key: "tick", name: "Compare" },
  { key: "name", name: "Workload" },
  { key: "models", name: "Quality of each model alone" },
  { key: "judge", name: "Judged scores" },
  { key: "from", name: "From" },
  { key: "prompts", name: "Prompts", numeric: true },
  { key: "rate", name: "Recorded", numeric: true },
  { key: "plans", name: "Plans", numeric: true },
  { key: "made", name: "Made", numeric: true },
] as const;

/** Workloads by name; earlier versions are folded under the newest. */
export function WorkloadTable(props: {
  readonly groups: readonly WorkloadGroup[];
  readonly ticked: readonly string[];
  readonly unfolded: readonly string[];
  readonly onTick: (id: string) => void;
  readonly onUnfold: (name: string) => void;
}) {
  const { ticked, onTick } = props;
  return (
    <Table caption="Workloads" columns={columns} stacked>
      {props.groups.flatMap(({ name, newest, earlier }) => {
        const isOpen = props.unfolded.includes(name);
        const fold = earlier.length > 0 && (
          <button
            type="button"
            aria-expanded={isOpen}
            className="text-xs whitespace-nowrap text-ink-2 underline underline-offset-2 hover:text-ink"
            onClick={() => props.onUnfold(name)}
          >
            {isOpen ? "Fold" : "Show"} {formatCounted(earlier.length, "earlier version")}
          </button>
        );
        return [
          <Row key={newest.workload.id} row={newest} {...{ ticked, onTick }} fold={fold} />,
          ...(isOpen ? earlier.map((row) => <Row key={row.workload.id} row={row} {...{ ticked, onTick }} isEarlier />) : []),
        ];
      })}
    </Table>
  );
}

function Row(props: {
  readonly row: WorkloadRow;
  readonly ticked: readonly string[];
  readonly onTick: (id: string) => void;
  readonly fold?: React.ReactNode;
  readonly isEarlier?: boolean;
}) {
  const { row, ticked, onTick } = props;
  const { workload } = row;
  const identities = useModelIdentities(workload.models.map(({ model }) => model));
  return (
    <tr className={`align-top ${props.isEarlier ? "bg-sunken/50" : ""}`} data-testid="workload-row">
      <td>
        <input
          type="checkbox"
          className="mt-0.5 size-4 accent-(--accent)"
          aria-label={`Compare ${workload.name} ${row.version}`}
          checked={ticked.includes(workload.id)}
          onChange={() => onTick(workload.id)}
        />
      </td>
      <td className="min-w-44 max-sm:flex-1">
        <span className={`flex flex-wrap items-baseline gap-x-2 ${props.isEarlier ? "pl-4" : ""}`}>
          <ClusterLink to={`/workloads/${workload.id}`} className="font-medium [overflow-wrap:anywhere] underline-offset-2 hover:underline">
            {workload.name}
          </ClusterLink>
          <Badge>{row.version}</Badge>
          {props.fold}
        </span>
      </td>
      <td className="max-sm:w-full">
        <ul className="flex min-w-40 list-none flex-col gap-0.5">
          {row.models.map(({ model, quality }) => {
            const identity = identities.get(model);
            return (
              <li key={model} className="flex items-center gap-1.5 whitespace-nowrap">
                {identity !== undefined && <ModelMark identity={identity} />}
                <span className="text-ink-2">{model}</span>
                <span className="ml-auto pl-3">{quality}</span>
              </li>
            );
          })}
        </ul>
      </td>
      <td>
        <JudgeBadge workload={workload} />
      </td>
      <td className="whitespace-nowrap" title={workload.outcomesFrom}>
        {row.from !== "generated" && <span className="block">{row.from}</span>}
        <OriginBadges workload={workload} />
      </td>
      <td className="text-right" data-name="Prompts">
        {row.prompts}
      </td>
      <td className="text-right whitespace-nowrap" data-name="Recorded">
        {row.rate}
      </td>
      <td className="text-right whitespace-nowrap">
        {row.plans ?? <span className="text-ink-3">no plan</span>}
        <ClusterLink
          to={`/plan?workload=${workload.id}`}
          aria-label={`Plan with ${workload.name} ${row.version}`}
          className="block text-xs text-accent underline underline-offset-2"
        >
          Plan with it
        </ClusterLink>
      </td>
      <td className="text-right whitespace-nowrap text-ink-3" data-name="Made">
        {formatDate(workload.createdAt)}
      </td>
    </tr>
  );
}
