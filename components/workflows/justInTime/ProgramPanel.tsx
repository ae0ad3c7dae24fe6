"use client";

import { useMemo, useState } from "react";
import { Button } from "@/components/ui/Button";
import { SelectField } from "@/components/ui/Field";
import { formatCount } from "@/components/ui/format";
import { Panel } from "@/components/ui/Panel";
import { useModelIdentities } from "@/components/ui/useModelIdentities";
import type { PolicyDocument } from "@/solver/plan/policySchema";
import { ChoicesTable } from "./ChoicesTable";
import { LatticeChart } from "./LatticeChart";
import { LatticeLevels } from "./LatticeLevels";
import { configurationWords, type Path, prepareChoices, prepareLattice, prepareWay, spaceOfPath, wayWords } from "./prepareLattice";
import { heldBySays, programInView, programOptions } from "./prepareProgram";

function Lattice(props: {
  readonly path: Path;
  readonly policy: PolicyDocument | null;
  /** The program is to be kept on display although newer ones arrive. */
  readonly onHold: () => void;
}) {
  const { path, policy } = props;
  const space = useMemo(() => spaceOfPath(path, policy), [path, policy]);
  const lattice = useMemo(() => (space === null ? null : prepareLattice(path, space)), [path, space]);
  const way = useMemo(() => (space === null ? [] : prepareWay(path, space)), [path, space]);
  const identities = useModelIdentities(path.models);
  const [picked, setPicked] = useState<number | null>(null);
  const choices = useMemo(() => prepareChoices(path, space), [path, space]);
  const marks = lattice?.marks ?? null;
  const isDecided = path.chosen.every((model) => model >= 0);
  const final = isDecided ? (marks?.find(({ state }) => state === "left")?.configuration ?? null) : null;
  const chosen = picked ?? final ?? path.configurations - 1;
  const mark = marks?.find(({ configuration }) => configuration === chosen);
  function choose(configuration: number) {
    setPicked(configuration);
    props.onHold();
  }
  return (
    <div className="grid gap-6 xl:grid-cols-2">
      <div className="flex min-w-0 flex-col gap-3">
        {lattice === null || space === null ? (
          <p className="text-sm text-ink-3">
            The plan in force declares {path.workflow} differently or not at all: only the chosen models of this program are known.
          </p>
        ) : marks === null ? (
          <LatticeLevels lattice={lattice} />
        ) : (
          <>
            <LatticeChart lattice={{ ...lattice, marks }} space={space} chosen={chosen} final={final} way={way} onChoose={choose} />
            <p className="min-h-10 text-sm text-ink-2">
              {mark !== undefined && `${configurationWords(space, mark, final)}. ${wayWords(way, chosen) ?? ""}`}
            </p>
            <details>
              <summary className="text-xs text-ink-3">As a table</summary>
              <LatticeLevels lattice={lattice} />
            </details>
          </>
        )}
      </div>
      <div className="flex min-w-0 flex-col gap-3">
        <ChoicesTable choices={choices} models={path.models} identities={identities} />
        <p className="text-xs text-ink-3">{heldBySays(path, policy)}</p>
        <p className="text-xs text-ink-3">
          Models from the smallest to the largest. A model is possible for an agent while an accurate configuration has it there and matches
          all choices so far; an agent whose engine failed is undecided again.
        </p>
      </div>
    </div>
  );
}

/** One program's path through its workflow's configurations. */
export function ProgramPanel(props: {
  readonly programs: readonly Path[];
  /** From the address; null: the newest. */
  readonly named: string | null;
  readonly policy: PolicyDocument | null;
  readonly onProgram: (programId: string | null) => void;
}) {
  const { programs, named, policy, onProgram } = props;
  // The displayed program stays although the gateway reports only newer ones.
  const [kept, setKept] = useState<Path | null>(null);
  const { path, isKept } = programInView(programs, named, kept);
  if (path !== null && path.programId === named && path !== kept) setKept(path);
  const listed = path === null || !isKept ? programs : [path, ...programs];
  return (
    <Panel title="Configurations of a program" aside={path !== null && `${formatCount(path.configurations)} in all`}>
      {path === null ? (
        <p className="text-sm text-ink-3">
          No program of a declared workflow has arrived yet. Send calls with the headers x-weir-workflow, x-weir-stage and x-session-id, or
          have the gateway run one: try it on the Declared tab.
        </p>
      ) : (
        <div className="flex flex-col gap-4" data-testid="program">
          {named !== null && path.programId !== named && (
            <p className="text-sm text-warn">Of {named} nothing is known: the gateway reports only its newest programs.</p>
          )}
          {isKept && <p className="text-sm text-warn">The gateway now reports newer programs only: this is its last report of this one.</p>}
          <div className="flex flex-wrap items-end gap-3">
            <SelectField
              label="Program"
              className="max-w-xl"
              value={path.programId}
              options={programOptions(listed)}
              onChange={onProgram}
            />
            {named !== null && (
              <Button look="quiet" onClick={() => onProgram(null)}>
                Follow the newest
              </Button>
            )}
          </div>
          <Lattice key={path.programId} path={path} policy={policy} onHold={() => path.programId !== named && onProgram(path.programId)} />
        </div>
      )}
    </Panel>
  );
}
