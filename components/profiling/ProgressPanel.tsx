import { useMemo } from "react";
import type { ProfileJob } from "@/server/contracts/studio";
import { ProgressBar } from "../charts/ProgressBar";
import { Figure } from "../ui/Figure";
import { ABSENT, formatCount, formatUsd } from "../ui/format";
import { ModelChip } from "../ui/ModelChip";
import { NoteList } from "../ui/Notes";
import { Panel } from "../ui/Panel";
import { useModelIdentities } from "../ui/useModelIdentities";
import { leftText, type ProgressRow, prepareJob } from "./prepareJob";
import { useIsEmulated } from "./useIsEmulated";

function Rows({
  title,
  rows,
  identities,
}: {
  readonly title: string;
  readonly rows: readonly ProgressRow[];
  readonly identities?: ReturnType<typeof useModelIdentities>;
}) {
  return (
    <section aria-label={title} className="min-w-0">
      <h3 className="mb-2 text-xs text-ink-3">{title}</h3>
      <ul className="flex list-none flex-col gap-3">
        {rows.map((row) => {
          const identity = identities?.get(row.key);
          return (
            <li key={row.key} className="flex flex-col gap-1">
              <div className="flex flex-wrap items-baseline justify-between gap-x-3 text-sm">
                <span className="min-w-0 [overflow-wrap:anywhere]">
                  {identity === undefined ? row.name : <ModelChip identity={identity} />}
                </span>
                <span className="text-ink-2">{row.says}</span>
              </div>
              <ProgressBar label={`${title}: ${row.name}`} done={row.done} failed={row.failed} />
              {row.details.length > 0 && <p className="text-xs text-ink-3">{row.details.join(" · ")}</p>}
            </li>
          );
        })}
      </ul>
    </section>
  );
}

/** A job's progress by model and by measure, its speed and its cost. */
export function ProgressPanel({ job }: { readonly job: ProfileJob }) {
  const picture = useMemo(() => prepareJob(job), [job]);
  const identities = useModelIdentities(job.models.map(({ model }) => model));
  const isEmulated = useIsEmulated(job);
  const { capUsd } = job.request;
  const left = leftText(job);
  return (
    <Panel title="Progress" aside={left ?? undefined}>
      <div className="flex flex-col gap-5">
        <div className="flex flex-col gap-1">
          <p className="text-sm" data-testid="profile-progress">
            {picture.says}
          </p>
          <ProgressBar label="All calls" done={picture.share} failed={0} />
        </div>
        <dl className="flex flex-wrap gap-x-8 gap-y-3">
          {job.state === "running" && (
            <Figure
              name="Pace"
              value={job.callsPerMinute === null ? ABSENT : `${formatCount(Math.round(job.callsPerMinute))}/min`}
              detail={`${formatCount(job.total.inFlight)} in progress`}
            />
          )}
          <Figure name="Spent" value={formatUsd(job.spentUsd)} detail={capUsd === null ? "no cap" : `of ${formatUsd(capUsd)} at most`} />
          <Figure
            name="Tokens"
            value={formatCount(job.inputTokens + job.outputTokens)}
            detail={`${formatCount(job.outputTokens)} written`}
          />
          <Figure name="Failed" value={formatCount(job.total.failed)} detail={job.total.failed === 0 ? "" : "after every retry"} />
          {job.askedAgain > 0 && (
            <Figure name="Asked again" value={formatCount(job.askedAgain)} detail="were in progress when the studio stopped" />
          )}
        </dl>
        <div className="grid gap-x-10 gap-y-5 md:grid-cols-2">
          <Rows title="Answers by model" rows={picture.models} identities={identities} />
          <Rows title="Readings by measure" rows={picture.measures} />
        </div>
        {job.notes.length > 0 && <NoteList items={job.notes} className="list-none text-sm text-ink-2" />}
        {isEmulated && (
          <p className="text-xs text-ink-3">
            Seconds of answers are by the emulated cluster's clock, which may run faster than this machine's; pace and time left are by this
            machine's.
          </p>
        )}
        {job.failures.length > 0 && (
          <section aria-label="Most frequent failures">
            <h3 className="mb-1 text-xs text-ink-3">Most frequent failures</h3>
            <ul className="list-none text-sm">
              {job.failures.map(({ reason, calls }) => (
                <li key={reason} className="flex gap-3 border-b py-1 last:border-0">
                  <span className="w-14 shrink-0 text-right text-ink-2">{formatCount(calls)} ×</span>
                  <span className="min-w-0 [overflow-wrap:anywhere]">{reason}</span>
                </li>
              ))}
            </ul>
          </section>
        )}
      </div>
    </Panel>
  );
}
