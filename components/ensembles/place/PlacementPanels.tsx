import { useMemo } from "react";
import { Badge } from "@/components/ui/Badge";
import { SelectField } from "@/components/ui/Field";
import { Figure } from "@/components/ui/Figure";
import { NoteList } from "@/components/ui/Notes";
import { Panel } from "@/components/ui/Panel";
import { Table } from "@/components/ui/Table";
import { useModelIdentities } from "@/components/ui/useModelIdentities";
import type { EnsemblePlacement } from "@/server/contracts/studio";
import type { Baseline } from "../address/ensemblesCodec";
import { GanttChart } from "../gantt/GanttChart";
import { scheduleNames } from "../gantt/scheduleNames";
import { PlacedExperts } from "./PlacedExperts";
import type { PlacementPicture } from "./preparePlacement";
import { preparePlacement } from "./preparePlacement";

const columns = [
  { key: "k", name: "K", numeric: true },
  { key: "makespan", name: "Experts done after", numeric: true },
  { key: "beside", name: "Compared with the best", numeric: true },
] as const;

/** The effect of more models on a worker. */
function SweepTable({ rows }: { readonly rows: PlacementPicture["sweep"] }) {
  return (
    <Table caption="Time by models of a worker" columns={columns}>
      {rows.map((row) => (
        <tr key={row.k} className={row.chosen ? "bg-accent-soft" : ""} aria-current={row.chosen ? "true" : undefined}>
          <td className="text-right">
            {row.chosen && <Badge tone="accent">chosen</Badge>} {row.k}
          </td>
          <td className="text-right whitespace-nowrap">{row.makespan}</td>
          <td className="text-right whitespace-nowrap">{row.beside}</td>
        </tr>
      ))}
    </Table>
  );
}

/** Figures of a placement, compared with the baseline it is drawn with. */
function PlacementFigures({ picture, paled }: { readonly picture: PlacementPicture; readonly paled: boolean }) {
  const { speedUp, makespan, loads, idle } = picture;
  return (
    <dl className="flex flex-wrap gap-x-8 gap-y-3" data-testid="placement-figures">
      <Figure name="Experts done after" value={makespan.value} detail={makespan.detail} estimate={paled} testId="figure-makespan" />
      {speedUp !== null && (
        <Figure name={speedUp.name} value={speedUp.value} detail={speedUp.detail} estimate={paled} testId="figure-speed-up" />
      )}
      <Figure name="Loads" value={loads.value} detail={loads.detail} estimate={paled} />
      <Figure name="Idle" value={idle.value} detail={idle.detail} estimate={paled} testId="figure-idle" />
    </dl>
  );
}

const aggregatorColumns = [
  { key: "share", name: "Questions", numeric: true },
  { key: "seconds", name: "Answered in", numeric: true },
  { key: "whole", name: "All done after", numeric: true },
] as const;

/** A placement: drawn next to a baseline, in figures, expert by expert, and how certain it is. */
export function PlacementPanels(props: {
  readonly placement: EnsemblePlacement;
  /** Whether it belongs to the current request; otherwise it is paled. */
  readonly current: boolean;
  /** Whether another is being computed. */
  readonly isBusy: boolean;
  /** null: a suitable one. */
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
            onChange={props.onBaseline}
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
              It does not fit these workers' GPUs: give each worker more GPUs, or choose another aggregator.
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
        <NoteList label="How it was computed" items={placement.notes} className="list-disc pl-5 text-xs text-ink-3" />
      )}
    </div>
  );
}
