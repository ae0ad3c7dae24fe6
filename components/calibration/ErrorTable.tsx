import { formatFinePercent } from "@/components/ui/format";
import { isMatched } from "@/solver/calibration/servingErrors";
import type { ProfileErrors, ServingMetric } from "@/solver/hardware/engineProfile";
import { Badge } from "../ui/Badge";
import { formatCount } from "../ui/format";
import { type Column, Table } from "../ui/Table";
import { metricNames } from "./calibrationCodec";
import { formatError } from "./formatError";

const figures = [
  { key: "mean", name: "Mean error", numeric: true },
  { key: "bias", name: "Bias", numeric: true },
  { key: "p90", name: "9 of 10 within", numeric: true },
] as const satisfies readonly Column[];

const order = ["ttft", "tpot", "endToEnd"] as const satisfies readonly ServingMetric[];

/** Relative errors by metric, of one or several sets of runs side by side. */
export function ErrorTable(props: {
  readonly caption: string;
  readonly sets: readonly { readonly name: string; readonly errors: ProfileErrors }[];
}) {
  const named = props.sets.length > 1;
  const columns = [
    { key: "metric", name: "Mean of" },
    ...(named ? [{ key: "set", name: "On" }] : []),
    { key: "rows", name: "Runs", numeric: true },
    ...figures,
  ];
  return (
    <Table caption={props.caption} columns={columns}>
      {order.flatMap((metric) =>
        props.sets.map(({ name, errors }) => {
          const { rows, meanAbsolute, bias, p90Absolute } = errors[metric];
          const none = rows === 0;
          return (
            <tr key={`${metric} ${name}`}>
              <td className="whitespace-nowrap">
                {metricNames[metric]} {!isMatched(errors[metric]) && <Badge tone="warn">not matched</Badge>}
              </td>
              {named && <td className="whitespace-nowrap">{name}</td>}
              <td className="text-right">{formatCount(rows)}</td>
              <td className="text-right">{formatFinePercent(none ? null : meanAbsolute)}</td>
              <td className="text-right">{formatError(none ? null : bias)}</td>
              <td className="text-right">{formatFinePercent(none ? null : p90Absolute)}</td>
            </tr>
          );
        }),
      )}
    </Table>
  );
}
