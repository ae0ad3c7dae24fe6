"use client";

import { useMemo, useState } from "react";
import { Button } from "@/components/ui/Button";
import { ModelMark } from "@/components/ui/ModelChip";
import type { ModelIdentity } from "@/components/ui/modelIdentity";
import { Panel } from "@/components/ui/Panel";
import { Table } from "@/components/ui/Table";
import { useModelIdentities } from "@/components/ui/useModelIdentities";
import type { GatewayRounds } from "@/server/contracts/studio";
import { CandidatesTable } from "./CandidatesTable";
import { keepContested, listedRounds, MOST_KEPT, prepareRounds, type Round, type RoundRow, roundKey } from "./prepareRounds";

const columns = [
  { key: "age", name: "When" },
  { key: "weighed", name: "Considered", numeric: true },
  { key: "passed", name: "Passed over", numeric: true },
  { key: "given", name: "Carried out" },
  { key: "gain", name: "Utilisation", numeric: true },
  { key: "candidates", name: "Candidates", numeric: true },
] as const;

function Given({ row, identities }: { readonly row: RoundRow; readonly identities: ReadonlyMap<string, ModelIdentity> }) {
  if (row.given.length === 0) return <span className="text-ink-3">no assignment</span>;
  return (
    <span className="flex flex-wrap gap-x-3">
      {row.given.map(({ model, count }) => {
        const identity = identities.get(model);
        return (
          <span key={model} className="inline-flex items-center gap-1" title={model}>
            {identity === undefined ? model : <ModelMark identity={identity} />}
            <span className="sr-only">{model}</span>× {count}
          </span>
        );
      })}
    </span>
  );
}

/** The latest rounds, and the candidates of the newest or of a selected one. */
export function RoundsPanel(props: {
  readonly answer: GatewayRounds;
  readonly timeScale: number;
  /** When the answer arrived, in Unix milliseconds. */
  readonly atMs: number;
  /** Whether rounds choose request by request, by worth: then there are no candidates to compare. */
  readonly byWorth: boolean;
}) {
  const { answer, timeScale, atMs, byWorth } = props;
  // The selected round stays although newer ones push it out of the list.
  const [held, setHeld] = useState<Round | null>(null);
  const [kept, setKept] = useState<readonly Round[]>([]);
  const contested = keepContested(kept, answer);
  if (contested !== kept) setKept(contested);
  const rows = useMemo(
    () => prepareRounds(listedRounds(answer.rounds, contested), { asOfSeconds: answer.asOfSeconds, atMs, timeScale }),
    [answer, contested, atMs, timeScale],
  );
  const newest = answer.rounds?.find(({ candidates }) => candidates.length > 0) ?? answer.rounds?.[0];
  const shown = held ?? newest;
  const ofText =
    held !== null ? "the selected round" : shown === answer.rounds?.[0] ? "the newest round" : "the newest round with an assignment";
  const identities = useModelIdentities([...new Set((answer.rounds ?? []).flatMap(({ models }) => models.map(({ model }) => model)))]);
  return (
    <Panel
      title="Rounds"
      aside={
        held !== null && (
          <Button look="quiet" onClick={() => setHeld(null)}>
            Follow the newest
          </Button>
        )
      }
    >
      <div className="flex flex-col gap-4" data-testid="rounds">
        <div className="relative max-h-72 overflow-y-auto">
          <Table caption="Latest rounds, newest first" columns={columns} stacked>
            {rows.map((row) => {
              const isShown = shown !== undefined && roundKey(row.round) === roundKey(shown);
              return (
                <tr key={row.key} className={isShown ? "bg-accent-soft" : ""}>
                  <td className="whitespace-nowrap">
                    {row.clock}
                    <span className="ml-2 text-xs text-ink-3">{row.age}</span>
                  </td>
                  <td data-name="weighed" className="text-right">
                    {row.weighed}
                  </td>
                  <td data-name="passed over" className="text-right">
                    {row.passedOver}
                  </td>
                  <td data-name="carried out">
                    <Given row={row} identities={identities} />
                  </td>
                  <td data-name="utilisation" className="text-right">
                    {row.gain}
                  </td>
                  <td data-name="candidates" className="text-right whitespace-nowrap">
                    {row.candidates}{" "}
                    <button
                      type="button"
                      aria-pressed={isShown}
                      aria-label={`Candidates of ${row.says}`}
                      className="ml-2 text-xs text-accent underline underline-offset-2"
                      onClick={() => setHeld(row.round)}
                    >
                      {isShown ? "shown" : "show"}
                    </button>
                  </td>
                </tr>
              );
            })}
          </Table>
        </div>
        {shown !== undefined && (
          <CandidatesTable key={roundKey(shown)} round={shown} identities={identities} of={ofText} byWorth={byWorth} />
        )}
        <p className="text-xs text-ink-3">
          {byWorth ? (
            <>
              Each request gets its model of highest worth, whose terms stand below it. Passed over: it waits for a model that has no free
              slot now. Utilisation: forecast output tokens per second of the assignments, as a share of the saturated output of all engines
              that take work.
            </>
          ) : (
            <>
              Passed over: no free engine may serve it in an accurate configuration, so the next request is considered. Utilisation:
              forecast output tokens per second of the assignments, as a share of the saturated output of all engines that take work. The
              newest {MOST_KEPT} rounds with several candidates stay in the list.
            </>
          )}
        </p>
      </div>
    </Panel>
  );
}
