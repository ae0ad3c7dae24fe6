"use client";

import type { PromptSet } from "@/server/contracts/studio";
import { ClusterLink } from "../shell/ClusterLink";
import { Badge } from "../ui/Badge";
import { buttonClass } from "../ui/Button";
import { DataTable } from "../ui/DataTable";
import { formatCount, formatDate } from "../ui/format";
import { DeleteTexts } from "./DeleteTexts";
import { holdings, intervalText, retentionText } from "./prepareSample";

function Strata({ set }: { readonly set: PromptSet }) {
  return (
    <details className="basis-full">
      <summary className="text-xs text-ink-3">
        {set.strata.length} strata<span className="sr-only"> of {set.name}</span>
      </summary>
      <div className="mt-1 max-h-72 overflow-y-auto">
        <DataTable
          caption={`Strata of ${set.name}`}
          rows={set.strata}
          rowKey={(stratum) => stratum.name}
          columns={[
            { name: "Stratum", className: "[overflow-wrap:anywhere]", cell: (stratum) => stratum.name },
            { name: "Of", numeric: true, cell: (stratum) => formatCount(stratum.population) },
            { name: "Taken", numeric: true, cell: (stratum) => formatCount(stratum.sampled) },
            { name: "Precision of its quality", numeric: true, cell: (stratum) => intervalText(stratum.interval) },
          ]}
        />
      </div>
    </details>
  );
}

function Fact({ name, value, detail }: { readonly name: string; readonly value: string; readonly detail: string }) {
  return (
    <div className="min-w-28">
      <dt className="text-xs text-ink-3">{name}</dt>
      <dd className="text-sm">{value}</dd>
      <dd className="text-xs text-ink-3">{detail}</dd>
    </div>
  );
}

function Sample({ set, isFresh }: { readonly set: PromptSet; readonly isFresh: boolean }) {
  return (
    <li className="flex flex-wrap items-start gap-x-6 gap-y-2 border-b py-3 first:pt-0 last:border-0 last:pb-0" data-testid="prompt-set">
      <div className="min-w-0 flex-1 basis-56">
        <h3 className="flex flex-wrap items-center gap-2 text-sm font-medium [overflow-wrap:anywhere]">
          {set.name}
          {isFresh && <Badge tone="accent">new</Badge>}
        </h3>
        <p className="text-xs text-ink-3 [overflow-wrap:anywhere]">
          {set.from}, {formatDate(set.createdAt)} by {set.actor}
        </p>
      </div>
      <dl className="flex flex-wrap gap-x-6 gap-y-2">
        <Fact
          name="Prompts"
          value={`${formatCount(set.prompts)} of ${formatCount(set.population)}`}
          detail={set.skipped === 0 ? "" : `${formatCount(set.skipped)} lines skipped`}
        />
        <Fact
          name="Mean quality of all known to"
          value={intervalText(set.interval)}
          detail={set.interval.points === 0 ? "" : "at worst, plus a judge's errors"}
        />
        <Fact name="What they hold" value={holdings(set)} detail={`mean ${formatCount(Math.round(set.meanCharacters))} characters`} />
        <Fact
          name="Texts"
          value={set.deleted ? "deleted" : `kept ${retentionText(set)}`}
          detail={set.deleted ? "measurements made with them stay" : ""}
        />
      </dl>
      {!set.deleted && (
        <div className="flex flex-wrap gap-2">
          <ClusterLink to={`/workloads/profiles/new?set=${set.id}`} className={buttonClass("primary")}>
            Profile it<span className="sr-only">: {set.name}</span>
          </ClusterLink>
          <DeleteTexts set={set} />
        </div>
      )}
      {set.strata.length > 1 && <Strata set={set} />}
    </li>
  );
}

/** Stored samples, newest first. `fresh`: the one just taken. */
export function SampleList({ sets, fresh }: { readonly sets: readonly PromptSet[]; readonly fresh: string | null }) {
  return (
    <ul className="list-none">
      {sets.map((set) => (
        <Sample key={set.id} set={set} isFresh={set.id === fresh} />
      ))}
    </ul>
  );
}
