"use client";

import { useMemo } from "react";
import { cssPercent } from "@/components/charts/cssPercent";
import { StateWord } from "@/components/ui/Badge";
import { formatSeconds } from "@/components/ui/format";
import { ModelChip } from "@/components/ui/ModelChip";
import type { ModelIdentity } from "@/components/ui/modelIdentity";
import { Panel } from "@/components/ui/Panel";
import { useModelIdentities } from "@/components/ui/useModelIdentities";
import type { AgentView } from "@/solver/workflow/learning/workflowsView";
import type { AgentIdentity } from "../graph/agentIdentity";
import { Track, TrackAxis } from "../graph/Track";
import { type DistributionGroup, type DistributionRow, prepareDistributions } from "./prepareDistributions";

function Box({ row, hue, ticks }: { readonly row: DistributionRow; readonly hue: string; readonly ticks: DistributionGroup["ticks"] }) {
  const { box } = row;
  return (
    <Track ticks={ticks}>
      {box !== null && (
        <>
          <span
            className="absolute top-[11px] h-0.5"
            style={{ left: cssPercent(box.most.from), width: cssPercent(box.most.to - box.most.from), background: hue }}
          />
          <span
            className="absolute top-1.5 h-3 rounded-sm border"
            style={{
              left: cssPercent(box.half.from),
              width: cssPercent(Math.max(0.003, box.half.to - box.half.from)),
              borderColor: hue,
              background: `color-mix(in oklab, ${hue} 30%, var(--panel))`,
            }}
          />
          <span className="absolute top-1 h-4 w-0.5 -translate-x-1/2 bg-ink" style={{ left: cssPercent(box.median) }} />
          {box.mode !== null && (
            <span className="absolute -top-1 -translate-x-1/2 text-[10px] leading-3 text-ink" style={{ left: cssPercent(box.mode) }}>
              ◆
            </span>
          )}
        </>
      )}
    </Track>
  );
}

function Distribution(props: {
  readonly row: DistributionRow;
  readonly identities: ReadonlyMap<string, ModelIdentity>;
  readonly hue: string;
  readonly ticks: DistributionGroup["ticks"];
}) {
  const { row, identities, hue, ticks } = props;
  const chips = (row.models ?? []).flatMap((model) => identities.get(model) ?? []);
  return (
    <section className="flex flex-col gap-1 border-t pt-2">
      <h3 className="flex flex-wrap items-center gap-x-3 gap-y-1 text-sm font-medium">
        {row.models === null ? "To the end of the program" : "One request"}
        {chips.map((identity, at) => (
          <span key={identity.model} className="inline-flex items-center gap-2">
            {at > 0 && "then "}
            <ModelChip identity={identity} />
          </span>
        ))}
        <StateWord tone={row.tone} title={row.why}>
          {row.word}
        </StateWord>
        <span className="text-xs font-normal text-ink-3">{row.observations}</span>
      </h3>
      <Box row={row} hue={chips.length === 1 ? (chips[0]?.hue ?? hue) : hue} ticks={ticks} />
      <p className="text-xs text-ink-2">
        median {row.median}, 95 % within {row.p95}, most common {row.mode}
      </p>
    </section>
  );
}

/** The measured latencies of one agent's calls: the remaining time of its programs, and each request by model. */
export function DistributionPanel({ agent, identity }: { readonly agent: AgentView; readonly identity: AgentIdentity }) {
  const groups = useMemo(() => prepareDistributions(agent), [agent]);
  const identities = useModelIdentities(groups.flatMap(({ rows }) => rows.flatMap(({ models }) => models ?? [])));
  return (
    <Panel title={`${identity.name} of ${identity.application}`} aside="measured">
      <div data-testid="distributions" className="flex flex-col gap-3">
        <dl className="flex flex-wrap gap-x-6 gap-y-1 text-sm">
          <div className="flex gap-1.5">
            <dt className="text-ink-3">From zero</dt>
            <dd>{formatSeconds(agent.distanceSeconds)}</dd>
          </div>
          <div className="flex gap-1.5">
            <dt className="text-ink-3">Remaining sequential calls, this one included</dt>
            <dd>{agent.remainingCalls.toFixed(1)}</dd>
          </div>
        </dl>
        {groups.map(({ key, rows, ticks }) => (
          <div key={key} className="flex flex-col gap-3">
            {rows.map((row) => (
              <Distribution key={row.key} row={row} identities={identities} hue={identity.hue} ticks={ticks} />
            ))}
            <TrackAxis ticks={ticks} />
          </div>
        ))}
        <p className="text-xs text-ink-3">
          Line: the middle 90 %. Box: the middle half, with its median. ◆ the most common. To the end of the program counts from a request's
          dispatch, without the queue time of its later calls.
        </p>
      </div>
    </Panel>
  );
}
