import { DoubtBadge } from "@/components/plan/result/DoubtBadge";
import { ABSENT, formatCount, formatPercent, formatScore, formatSeconds } from "@/components/ui/format";
import { ModelChip } from "@/components/ui/ModelChip";
import { Table } from "@/components/ui/Table";
import { lineWords, type StageRow, stageScale } from "./prepareLive";

const columns = [
  { key: "stage", name: "Stage" },
  { key: "queue", name: "Queued", numeric: true },
  { key: "flight", name: "In flight", numeric: true },
  { key: "share", name: "Share", numeric: true },
  { key: "escalated", name: "Escalated", numeric: true },
  { key: "score", name: "Judged score", numeric: true },
  { key: "p95", name: "p95 measured", numeric: true },
  { key: "beside", name: "and predicted" },
] as const;

/** Measured as a solid tick, predicted as a hollow one, on the scale of all stages, from zero to `most` seconds. */
function Beside(props: { readonly measured: number | null; readonly predicted: number | null; readonly most: number }) {
  const { measured, predicted, most } = props;
  return (
    <span className="flex items-center gap-2">
      <span aria-hidden="true" className="relative block h-3 w-32 rounded-sm bg-sunken">
        {predicted !== null && (
          <span
            className="absolute inset-y-0 left-0 rounded-sm border-r-2 border-accent bg-accent-soft"
            style={{ width: `${(predicted / most) * 100}%` }}
          />
        )}
        {measured !== null && <span className="absolute -inset-y-0.5 w-0.5 bg-ink" style={{ left: `${(measured / most) * 100}%` }} />}
      </span>
      <span className="text-xs whitespace-nowrap text-ink-3">{predicted === null ? ABSENT : formatSeconds(predicted)}</span>
    </span>
  );
}

/**
 * The cascade stage by stage: where requests wait, how many are escalated, and the measured and predicted time of each stage.
 * `pale`: the measurements have not settled yet, or are from before a panic. `line`: requests that wait for the next free model; null where
 * there are none.
 */
export function StagePanel(props: { readonly rows: readonly StageRow[]; readonly pale: boolean; readonly line: number | null }) {
  const { rows, pale, line } = props;
  const tone = pale ? "text-ink-3" : "";
  const most = stageScale(rows);
  if (rows.length === 0) return <p className="text-sm text-ink-3">No plan runs, so there are no stages.</p>;
  return (
    <>
      {line !== null && <p className="text-sm text-ink-2">{lineWords(line)}</p>}
      <Table caption="Stages" columns={columns}>
        {rows.map(({ model, identity, measured, predictedP95Seconds, predictedShare, doubt }) => (
          <tr key={model}>
            <td>{identity === undefined ? model : <ModelChip identity={identity} />}</td>
            <td className="text-right">{formatCount(measured?.queued)}</td>
            <td className="text-right">{formatCount(measured?.inFlight)}</td>
            <td className={`text-right whitespace-nowrap ${tone}`}>
              {formatPercent(measured?.share)}{" "}
              {predictedShare !== null && <span className="text-xs text-ink-3">predicted {formatPercent(predictedShare)}</span>}
            </td>
            <td className={`text-right ${tone}`}>{formatPercent(measured?.escalated)}</td>
            <td className={`text-right ${tone}`}>{formatScore(measured?.meanJudgedScore)}</td>
            <td className={`text-right font-medium ${tone}`}>{formatSeconds(measured?.p95Seconds)}</td>
            <td>
              <span className="flex flex-wrap items-center gap-2">
                <Beside measured={measured?.p95Seconds ?? null} predicted={predictedP95Seconds} most={most} />
                {doubt !== null && <DoubtBadge doubt={doubt} />}
              </span>
            </td>
          </tr>
        ))}
      </Table>
    </>
  );
}
