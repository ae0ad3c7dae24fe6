import { formatFinePercent } from "@/components/ui/format";
import { type GroupErrors, isMatched } from "@/solver/calibration/servingErrors";
import type { ServingMetric } from "@/solver/hardware/engineProfile";
import { Badge } from "../ui/Badge";
import { formatCount } from "../ui/format";
import { type Column, Table } from "../ui/Table";
import { metricNames } from "./calibrationCodec";
import { formatError } from "./formatError";
import { type Grouping, type GroupMark, groupingNames } from "./grouping";

const METRICS = ["ttft", "tpot", "endToEnd"] as const satisfies readonly ServingMetric[];

/** Errors by group; the marks are the chart's legend. */
export function GroupTable(props: {
  readonly errors: readonly GroupErrors[];
  readonly group: Grouping;
  readonly marks: ReadonlyMap<string, GroupMark>;
}) {
  const columns: readonly Column[] = [
    { key: "group", name: "Group" },
    { key: "rows", name: "Runs", numeric: true },
    ...METRICS.flatMap((metric) => [
      { key: metric, name: `Error, ${metricNames[metric]}`, numeric: true },
      { key: `${metric} bias`, name: "Bias", numeric: true },
    ]),
  ];
  const all = props.errors.filter((each) => each.group === "all");
  const groups = props.errors
    .filter((each) => each.group === props.group)
    .sort((a, b) => a.key.localeCompare(b.key, "en", { numeric: true }));
  return (
    <Table caption={`Errors by ${groupingNames[props.group]}`} columns={columns}>
      {[...groups, ...all].map((each) => {
        const mark = each.group === "all" ? undefined : props.marks.get(each.key);
        return (
          <tr key={`${each.group} ${each.key}`} className={each.group === "all" ? "font-medium" : ""}>
            <td className="whitespace-nowrap">
              {mark !== undefined && (
                <span aria-hidden="true" className="mr-2 inline-block w-3 text-center font-semibold" style={{ color: mark.hue }}>
                  {mark.letter}
                </span>
              )}
              {mark?.name ?? (each.group === "all" ? "All runs" : each.key)}
            </td>
            <td className="text-right">{formatCount(each.rows)}</td>
            {METRICS.map((metric) => (
              <Figures key={metric} errors={each[metric]} />
            ))}
          </tr>
        );
      })}
    </Table>
  );
}

function Figures({ errors }: { readonly errors: GroupErrors["ttft"] }) {
  return (
    <>
      <td className="text-right whitespace-nowrap">
        {!isMatched(errors) && <Badge tone="warn">not matched</Badge>} {formatFinePercent(errors?.meanAbsolute ?? null)}
      </td>
      <td className="text-right whitespace-nowrap text-ink-3">{formatError(errors?.bias ?? null)}</td>
    </>
  );
}
