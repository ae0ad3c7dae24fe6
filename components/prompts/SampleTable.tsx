"use client";

import Link from "next/link";
import type { PromptSet } from "@/server/contracts/studio";
import { useClusterLink } from "../shell/useCurrentCluster";
import { Badge } from "../ui/Badge";
import { buttonClass } from "../ui/Button";
import { formatCount, formatCounted, formatDate } from "../ui/format";
import { Table } from "../ui/Table";
import { DeleteTexts } from "./DeleteTexts";
import { intervalText, retentionText } from "./prepareSample";

const columns = [
  { key: "name", name: "Sample" },
  { key: "size", name: "Prompts", numeric: true },
  { key: "buys", name: "Mean quality known to", numeric: true },
  { key: "holds", name: "What they hold" },
  { key: "kept", name: "Texts kept" },
  { key: "acts", name: "What to do" },
];

const strataColumns = [
  { key: "name", name: "Stratum" },
  { key: "of", name: "Of", numeric: true },
  { key: "taken", name: "Taken", numeric: true },
  { key: "interval", name: "Known to", numeric: true },
];

function Strata({ set }: { readonly set: PromptSet }) {
  return (
    <details>
      <summary className="text-xs text-ink-3">{formatCounted(set.strata.length, "stratum").replace("stratums", "strata")}</summary>
      <div className="max-h-72 overflow-y-auto">
        <Table caption={`Strata of ${set.name}`} columns={strataColumns}>
          {set.strata.map((stratum) => (
            <tr key={stratum.name}>
              <td className="[overflow-wrap:anywhere]">{stratum.name}</td>
              <td className="text-right">{formatCount(stratum.population)}</td>
              <td className="text-right">{formatCount(stratum.sampled)}</td>
              <td className="text-right whitespace-nowrap">{intervalText(stratum.interval)}</td>
            </tr>
          ))}
        </Table>
      </div>
    </details>
  );
}

const holdings = (set: PromptSet): string =>
  [
    set.withReference > 0 ? `${formatCount(set.withReference)} with a reference` : "",
    set.withTest > 0 ? `${formatCount(set.withTest)} with a test` : "",
    set.multiTurn > 0 ? `${formatCount(set.multiTurn)} of several turns` : "",
    set.withTools > 0 ? `${formatCount(set.withTools)} with tools` : "",
  ]
    .filter(Boolean)
    .join(", ") || "prompts only";

/** Samples that the studio keeps, newest first. */
export function SampleTable({ sets, fresh }: { readonly sets: readonly PromptSet[]; readonly fresh: string | null }) {
  const link = useClusterLink();
  return (
    <Table caption="Samples of prompts" columns={columns}>
      {sets.map((set) => (
        <tr key={set.id} className="align-top" data-testid="prompt-set">
          <td className="min-w-48">
            <span className="flex flex-wrap items-center gap-2 font-medium [overflow-wrap:anywhere]">
              {set.name}
              {set.id === fresh && <Badge tone="accent">new</Badge>}
            </span>
            <span className="block text-xs text-ink-3 [overflow-wrap:anywhere]">
              {set.from}, {formatDate(set.createdAt)} by {set.actor}
            </span>
            {set.strata.length > 1 && <Strata set={set} />}
          </td>
          <td className="text-right whitespace-nowrap">
            {formatCount(set.prompts)}
            <span className="block text-xs text-ink-3">of {formatCount(set.population)}</span>
            {set.skipped > 0 && <span className="block text-xs text-ink-3">{formatCount(set.skipped)} skipped</span>}
          </td>
          <td className="text-right whitespace-nowrap">{intervalText(set.interval)}</td>
          <td className="min-w-36">
            {holdings(set)}
            <span className="block text-xs text-ink-3">mean {formatCount(Math.round(set.meanCharacters))} characters</span>
          </td>
          <td className="whitespace-nowrap">{set.deleted ? <Badge>texts deleted</Badge> : retentionText(set)}</td>
          <td>
            <span className="flex flex-wrap gap-2">
              {set.deleted ? (
                <span className="text-xs text-ink-3">What was measured with them stays.</span>
              ) : (
                <>
                  <Link href={link(`/workloads/profiles/new?set=${set.id}`)} className={buttonClass("primary")}>
                    Profile it<span className="sr-only">: {set.name}</span>
                  </Link>
                  <DeleteTexts set={set} />
                </>
              )}
            </span>
          </td>
        </tr>
      ))}
    </Table>
  );
}
