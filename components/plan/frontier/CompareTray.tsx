"use client";

import { axisTexts } from "@/components/charts/frontierAxes";
import { Button } from "@/components/ui/Button";
import { CopyButton } from "@/components/ui/CopyButton";
import { formatCount, formatCounted } from "@/components/ui/format";
import type { ModelIdentity } from "@/components/ui/modelIdentity";
import { Table } from "@/components/ui/Table";
import { startText } from "@/solver/plan/directStart";
import { CascadeCell } from "./CascadeCell";
import type { Comparison } from "./prepareCompare";

/** Pinned plans and the running plan side by side; the best figure of each row is marked with a word. */
export function CompareTray(props: {
  readonly comparison: Comparison;
  /** Traffic of the running plan, where its promise is for other traffic than planned for here. */
  readonly otherTraffic: string | null;
  /** The comparison as tab-separated text. */
  readonly text: string;
  readonly identities: ReadonlyMap<string, ModelIdentity>;
  readonly onChoose: (key: string) => void;
  readonly onUnpin: (key: string) => void;
}) {
  const { columns, rows, reference } = props.comparison;
  return (
    <section
      aria-label="Pinned plans compared"
      className="flex flex-col gap-2 rounded-md bg-sunken p-3 [--cover:var(--sunken)]"
      data-testid="compare-tray"
    >
      <Table
        caption="Pinned plans compared"
        columns={[
          { key: "axis", name: "Figure" },
          ...columns.map(({ key, pin }, index) => ({
            key,
            name: pin === null ? "Running" : `Pin ${columns[0]?.pin === null ? index : index + 1}`,
            numeric: true,
          })),
        ]}
      >
        <tr>
          <th scope="row" className="align-top text-xs text-ink-3">
            Cascade
          </th>
          {columns.map(({ key, pin, routing, stages }) => (
            <td key={key} className="text-right align-top">
              <span className="inline-flex flex-wrap justify-end gap-1">
                <CascadeCell cascade={routing} identities={props.identities} />
              </span>
              <ul className="list-none text-xs text-ink-3">
                {stages.map(({ model, gpus }) => (
                  <li key={model} className="whitespace-nowrap">
                    {model}
                    {gpus !== null && ` · ${formatCounted(gpus, "GPU")}`}
                  </li>
                ))}
              </ul>
              {routing.startBelow !== undefined && (
                <p className="text-xs text-ink-3">direct start from a router score of {startText(routing.startBelow)}</p>
              )}
              {pin !== null && pin.plan === null && <p className="text-xs text-warn">not among the cascades evaluated here</p>}
            </td>
          ))}
        </tr>
        {rows.map(({ axis, cells }) => (
          <tr key={axis}>
            <th scope="row" className="text-xs whitespace-nowrap text-ink-3">
              {axisTexts[axis].name}
            </th>
            {cells.map(({ text, delta, best }, index) => (
              <td key={columns[index]?.key} className="text-right whitespace-nowrap">
                {text} {best && <span className="text-xs font-semibold text-accent">best</span>}
                {delta !== null && <span className="block text-xs text-ink-3">{delta}</span>}
              </td>
            ))}
          </tr>
        ))}
        <tr>
          <td />
          {columns.map(({ key, pin }, index) => (
            <td key={key} className="text-right align-top">
              {pin !== null && (
                <span className="inline-flex flex-col items-end gap-1">
                  <Button
                    onClick={() => props.onChoose(pin.key)}
                    disabled={pin.plan === null}
                    title={pin.pinned.gpus === null ? undefined : `The GPU setting changes to ${formatCount(pin.pinned.gpus)} with it`}
                  >
                    Choose
                  </Button>
                  <Button look="quiet" aria-label={`Unpin ${key}`} onClick={() => props.onUnpin(pin.key)}>
                    Unpin
                  </Button>
                </span>
              )}
              {pin === null && index === 0 && <span className="sr-only">the running plan</span>}
            </td>
          ))}
        </tr>
      </Table>
      <div className="flex flex-wrap items-center gap-x-4 gap-y-1 text-xs text-ink-3">
        <CopyButton text={props.text} label="Copy as table" />
        {reference !== null && <span>Differences are from {reference}.</span>}
        <span>
          Estimates from the tables
          {columns[0]?.pin === null && "; the running plan as predicted"}
          {props.otherTraffic !== null && ` ${props.otherTraffic}, which cannot be compared with these estimates`}.
        </span>
      </div>
    </section>
  );
}
