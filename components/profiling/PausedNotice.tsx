import { useState } from "react";
import type { ProfileJob } from "@/server/contracts/studio";
import { useProfileAct } from "../api/acts";
import { useTRPCClient } from "../api/trpc";
import { Button } from "../ui/Button";
import { ErrorLine } from "../ui/ErrorLine";
import { NumberField } from "../ui/Field";
import { formatDate } from "../ui/format";
import { stateOf, wayOut } from "./prepareJob";

/** Why a job is paused, what to do about it, and the button that does it. */
export function PausedNotice({ job }: { readonly job: ProfileJob }) {
  const client = useTRPCClient();
  const way = wayOut(job);
  const [capUsd, setCapUsd] = useState<number | null>(null);
  const resume = useProfileAct((cap: number | null | undefined) =>
    client.profiles.resume.mutate({ jobId: job.id, ...(cap === undefined ? {} : { capUsd: cap }) }),
  );
  if (way === null || job.pause === null) return null;
  const cap = way.kind === "cap" ? (capUsd ?? way.suggestedUsd) : null;
  const bad = stateOf(job).tone === "bad";
  return (
    <section
      aria-label="Paused"
      data-testid="paused"
      className={`flex flex-col gap-2 rounded-lg border px-4 py-3 text-sm ${bad ? "border-bad bg-bad-soft" : "bg-warn-soft"}`}
    >
      <p className={`[overflow-wrap:anywhere] ${bad ? "text-bad" : "text-warn"}`}>
        <strong className="font-semibold">Paused since {formatDate(job.pause.since)}.</strong> {job.pause.reason}
      </p>
      <p className="text-ink-2">{way.says}</p>
      <form
        noValidate
        className="flex flex-wrap items-end gap-3"
        onSubmit={(event) => {
          event.preventDefault();
          if (!resume.isPending) resume.mutate(cap ?? undefined);
        }}
      >
        {cap !== null && (
          <NumberField label="New cap" unit="$" min={0.000001} max={1_000_000} step={0.01} value={cap} onChange={setCapUsd} />
        )}
        <Button type="submit" look="primary" disabled={resume.isPending}>
          {cap === null ? "Resume" : "Raise the cap and resume"}
        </Button>
        {cap !== null && (
          <Button disabled={resume.isPending} onClick={() => resume.mutate(null)}>
            Resume without a cap
          </Button>
        )}
      </form>
      <ErrorLine error={resume.error} />
    </section>
  );
}
