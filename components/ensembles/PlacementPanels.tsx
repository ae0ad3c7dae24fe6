import { useMemo } from "react";
import type { EnsemblePlacement } from "@/server/contracts/studio";
import { SelectField } from "../ui/Field";
import { Panel } from "../ui/Panel";
import { Table } from "../ui/Table";
import { useModelIdentities } from "../ui/useModelIdentities";
import { type Baseline, baselines } from "./ensemblesCodec";
import { GanttChart } from "./GanttChart";
import { PlacedExperts } from "./PlacedExperts";
import { PlacementFigures } from "./PlacementFigures";
import { preparePlacement } from "./preparePlacement";
import { SweepTable } from "./SweepTable";
import { scheduleNames } from "./scheduleNames";

const aggregatorColumns = [
  { key: "share", name: "Questions it is asked", numeric: true },
  { key: "seconds", name: "Answers them in", numeric: true },
  { key: "whole", name: "All done after", numeric: true },
] as const;

/** A placement: drawn beside a baseline, in figures, expert by expert, and how sure it is. */
export function PlacementPanels(props: {
  readonly placement: EnsemblePlacement;
  /** Whether it is of the request as it stands; else it is paled. */
  readonly current: boolean;
  /** Whether another is being placed. */
  readonly isBusy: boolean;
  /** null: the one that suits. */
  readonly baseline: Baseline | null;
  readonly onBaseline: (baseline: Baseline | null) => void;
}) {
  const { placement, current, baseline } = props;
  const identities = useModelIdentities(placement.experts.map(({ model }) => model));
  const picture = useMemo(() => preparePlacement(placement, baseline, identities), [placement, baseline, identities]);
  const { gantt, aggregator, bound, sweep } = picture;
  return (
    <div className={`flex flex-col gap-4 ${current ? "" : "opacity-60"}`} aria-busy={props.isBusy} data-testid="placement">
      <Panel
        title="Workers before and after"
        aside={
          <SelectField
            label="Before"
            value={picture.baseline ?? ""}
            options={picture.baselines.map((kind) => ({ value: kind, text: scheduleNames[kind] }))}
            onChange={(value) => props.onBaseline(baselines.find((each) => each === value) ?? null)}
          />
        }
      >
        <div className="flex flex-col gap-5">
          <PlacementFigures picture={picture} paled={!current} />
          {gantt !== null && <GanttChart picture={gantt} caption={gantt.drawings.map(({ says }) => says).join(" ")} />}
          <p className="text-sm text-ink-2" data-testid="bound">
            {bound} Both schedules are timed with the session cost, in which small shards lose throughput.
          </p>
        </div>
      </Panel>
      <Panel title="Experts">
        <PlacedExperts rows={picture.experts} identities={identities} />
      </Panel>
      <div className={`grid gap-4 ${sweep.length > 1 ? "lg:grid-cols-2" : ""}`}>
        {sweep.length > 1 && (
          <Panel title="Models of a worker">
            <SweepTable rows={sweep} />
          </Panel>
        )}
        <Panel title="Aggregator">
          {aggregator === null ? (
            <p className="text-sm text-ink-2">
              It fits these workers' GPUs in no shape: give a worker more of them, or choose another aggregator.
            </p>
          ) : (
            <div className="flex max-w-xl flex-col gap-3">
              <p className="text-sm text-ink-2">{aggregator.says}</p>
              <Table caption="Time of the aggregator by share of questions" columns={aggregatorColumns}>
                {aggregator.rows.map(({ share, seconds, whole }) => (
                  <tr key={share}>
                    <td className="text-right">{share}</td>
                    <td className="text-right whitespace-nowrap">{seconds}</td>
                    <td className="text-right whitespace-nowrap">{whole}</td>
                  </tr>
                ))}
              </Table>
            </div>
          )}
        </Panel>
      </div>
      {placement.notes.length > 0 && (
        <ul aria-label="How it was worked out" className="list-disc pl-5 text-xs text-ink-3">
          {placement.notes.map((note) => (
            <li key={note}>{note}</li>
          ))}
        </ul>
      )}
    </div>
  );
}
