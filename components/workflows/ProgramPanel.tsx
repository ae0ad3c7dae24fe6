"use client";

import { useMemo, useState } from "react";
import type { PolicyDocument } from "@/solver/plan/policySchema";
import { countOf } from "@/solver/workflow/configurationSet";
import { SelectField } from "../ui/Field";
import { formatCount } from "../ui/format";
import { Panel } from "../ui/Panel";
import { useModelIdentities } from "../ui/useModelIdentities";
import { ChoicesTable } from "./ChoicesTable";
import { LatticeChart } from "./LatticeChart";
import { LatticeLevels } from "./LatticeLevels";
import { configurationWords, type Path, prepareChoices, prepareLattice, spaceOfPath } from "./prepareLattice";

const counted = (words: readonly number[]): number => countOf(Uint32Array.from(words));

const optionOf = ({ programId, workflow, left, accurate }: Path) => ({
  value: programId,
  text: `${programId} (${workflow}, ${formatCount(counted(left))} of ${formatCount(counted(accurate))} left)`,
});

function Lattice({ path, policy }: { readonly path: Path; readonly policy: PolicyDocument | null }) {
  const space = useMemo(() => spaceOfPath(path, policy), [path, policy]);
  const lattice = useMemo(() => (space === null ? null : prepareLattice(path, space)), [path, space]);
  const identities = useModelIdentities(path.models);
  const [picked, setPicked] = useState<number | null>(null);
  const choices = useMemo(() => prepareChoices(path, space), [path, space]);
  const marks = lattice?.marks ?? null;
  const isDecided = path.chosen.every((model) => model >= 0);
  const final = isDecided ? (marks?.find(({ state }) => state === "left")?.configuration ?? null) : null;
  const chosen = picked ?? final ?? path.configurations - 1;
  const mark = marks?.find(({ configuration }) => configuration === chosen);
  return (
    <div className="grid gap-6 xl:grid-cols-2">
      <div className="flex min-w-0 flex-col gap-3">
        {lattice === null || space === null ? (
          <p className="text-sm text-ink-3">
            The plan in force declares {path.workflow} otherwise, or not at all: of this program only what was chosen can be told.
          </p>
        ) : marks === null ? (
          <LatticeLevels lattice={lattice} />
        ) : (
          <>
            <LatticeChart lattice={{ ...lattice, marks }} space={space} chosen={chosen} final={final} onChoose={setPicked} />
            <p role="status" className="min-h-10 text-sm text-ink-2">
              {mark !== undefined && configurationWords(space, mark, final)}
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
        <p className="text-xs text-ink-3">
          Models from the smallest to the largest. A model is possible for an agent while an accurate configuration has it there and agrees
          with everything chosen so far; an agent whose engine failed is undecided again.
        </p>
      </div>
    </div>
  );
}

/** One program's way through its workflow's configurations. */
export function ProgramPanel(props: {
  readonly programs: readonly Path[];
  /** As the address names it; null: the newest. */
  readonly named: string | null;
  readonly policy: PolicyDocument | null;
  readonly onProgram: (programId: string) => void;
}) {
  const { programs, named, policy } = props;
  const found = programs.find(({ programId }) => programId === named);
  const path = found ?? programs[0];
  return (
    <Panel title="Configurations of a program" aside={path !== undefined && `${formatCount(path.configurations)} in all`}>
      {path === undefined ? (
        <p className="text-sm text-ink-3">
          No program of a declared workflow has come yet. Send calls with the headers x-weir-workflow, x-weir-stage and x-session-id, or
          have the gateway run one: try it on the tab Declared.
        </p>
      ) : (
        <div className="flex flex-col gap-4" data-testid="program">
          {named !== null && found === undefined && (
            <p className="text-sm text-warn">Of {named} nothing is known any more: the gateway tells of its newest programs alone.</p>
          )}
          <SelectField
            label="Program"
            className="max-w-xl"
            value={path.programId}
            options={programs.map(optionOf)}
            onChange={props.onProgram}
          />
          <Lattice key={path.programId} path={path} policy={policy} />
        </div>
      )}
    </Panel>
  );
}
