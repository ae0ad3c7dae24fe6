import type { MeasuredProfile } from "@/solver/hardware/measuredProfile";
import { Badge } from "../ui/Badge";
import { Table } from "../ui/Table";
import { measuredLines, measuredTables, noiseText } from "./prepareMeasured";

const columns = [
  { key: "words", name: "Work" },
  { key: "value", name: "Fitted", numeric: true },
];

/** The engines of a measured profile: times and limits of each, and the noise of its runs. */
export function MeasuredTable({ profile }: { readonly profile: MeasuredProfile }) {
  return (
    <div className="flex min-w-0 flex-col gap-6">
      {measuredTables(profile).map(({ engine, title }) => (
        <section key={title} className="flex min-w-0 flex-col gap-2">
          <h3 className="text-sm font-semibold">
            {title} <Badge tone="neutral">measured</Badge>
          </h3>
          <Table caption={`Times of ${title}`} columns={columns}>
            {measuredLines(engine).map(({ words, value }) => (
              <tr key={words}>
                <td>{words}</td>
                <td className="text-right whitespace-nowrap">{value}</td>
              </tr>
            ))}
          </Table>
          <p className="text-xs text-ink-3">
            {engine.measuredOn.source}, {engine.measuredOn.asOf}. {noiseText(engine)} These times are valid for this engine with this model
            on this hardware in this shape only.
          </p>
        </section>
      ))}
    </div>
  );
}
