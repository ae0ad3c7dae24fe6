"use client";

import { useState } from "react";
import { Button } from "@/components/ui/Button";
import { TextField } from "@/components/ui/Field";

/** Experts in their order, which decides ties; one more is added by name, known ones are offered while it is typed. */
export function ExpertsField(props: {
  readonly experts: readonly string[];
  readonly known: readonly string[];
  readonly problem: string | undefined;
  readonly onChange: (experts: readonly string[]) => void;
}) {
  const { experts, known, problem, onChange } = props;
  const [typed, setTyped] = useState("");
  const name = typed.trim();
  const addable = name !== "" && !experts.includes(name);
  function add() {
    if (!addable) return;
    onChange([...experts, name]);
    setTyped("");
  }
  return (
    <fieldset className="flex flex-col gap-2">
      <legend className="mb-1 text-xs text-ink-3">Experts, in the order that breaks ties</legend>
      {experts.length > 0 && (
        <ol aria-label="Experts" className="flex list-none flex-wrap gap-2">
          {experts.map((expert) => (
            <li key={expert} className="inline-flex items-center gap-1 rounded-md border bg-sunken pl-2 text-sm">
              <span className="[overflow-wrap:anywhere]">{expert}</span>
              <button
                type="button"
                aria-label={`Leave out ${expert}`}
                className="size-7 rounded text-ink-3 hover:text-ink"
                onClick={() => onChange(experts.filter((each) => each !== expert))}
              >
                ×
              </button>
            </li>
          ))}
        </ol>
      )}
      {/* biome-ignore lint/a11y/noStaticElementInteractions: Enter in the field adds, instead of sending the form. */}
      <div
        className="flex flex-wrap items-start gap-2"
        onKeyDown={(event) => {
          if (event.key !== "Enter" || name === "") return;
          event.preventDefault();
          add();
        }}
      >
        <TextField
          className="min-w-56 flex-1"
          label="Add an expert"
          value={typed}
          maxLength={200}
          suggestions={known.filter((model) => !experts.includes(model))}
          problem={problem}
          onChange={setTyped}
        />
        <div className="mt-5.5">
          <Button disabled={!addable} onClick={add}>
            Add
          </Button>
        </div>
      </div>
    </fieldset>
  );
}
