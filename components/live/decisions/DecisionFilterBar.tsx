"use client";

import { useEffect, useState } from "react";
import { Button } from "@/components/ui/Button";
import { type Option, SelectField, TextField } from "@/components/ui/Field";
import { useDebounced } from "@/components/ui/useDebounced";
import { type ChosenFilter, isFiltered, modelOptions, NO_FILTER, slowerOptions } from "../address/prepareFilter";

const outcomes: readonly Option[] = [
  { value: "any", text: "any" },
  { value: "answered", text: "answered" },
  { value: "failed", text: "failed" },
  { value: "escalated", text: "escalated" },
  { value: "unjudged", text: "accepted without a score" },
];

/** Long enough to type a word. */
const TYPING_MS = 300;

/** Part of an id or a program, requested after a pause in typing. */
function Find({ text, onFind }: { readonly text: string | null; readonly onFind: (text: string | null) => void }) {
  const [typed, setTyped] = useState(text ?? "");
  const [known, setKnown] = useState(text);
  if (text !== known) {
    setKnown(text);
    // It was cleared, or the browser went back.
    if ((text ?? "") !== typed.trim()) setTyped(text ?? "");
  }
  const still = useDebounced(typed, TYPING_MS).trim();
  // Only typing sends a request.
  useEffect(() => {
    if (still !== (text ?? "")) onFind(still === "" ? null : still);
  }, [still]);
  return <TextField label="Find id or program" value={typed} onChange={setTyped} maxLength={200} className="w-44" />;
}

/** The filter of decision records. The page keeps its state. */
export function DecisionFilterBar(props: {
  readonly filter: ChosenFilter;
  /** `replace`: the previous filter gets no history entry. */
  readonly onFilter: (filter: ChosenFilter, how: "push" | "replace") => void;
  /** null: the page shows requests of one model anyway. */
  readonly models: readonly string[] | null;
}) {
  const { filter, onFilter, models } = props;
  return (
    <search className="flex flex-wrap items-end gap-3">
      <SelectField
        label="Outcome"
        value={filter.outcome}
        options={outcomes}
        onChange={(value) => onFilter({ ...filter, outcome: value as ChosenFilter["outcome"] }, "push")}
      />
      {models !== null && (
        <SelectField
          label="Reached"
          value={filter.model ?? ""}
          options={modelOptions(models, filter.model)}
          onChange={(model) => onFilter({ ...filter, model: model === "" ? null : model }, "push")}
        />
      )}
      <SelectField
        label="Slower than"
        value={String(filter.slowerThanSeconds ?? "")}
        options={slowerOptions(filter.slowerThanSeconds)}
        onChange={(seconds) => onFilter({ ...filter, slowerThanSeconds: seconds === "" ? null : Number(seconds) }, "push")}
      />
      <Find text={filter.text} onFind={(text) => onFilter({ ...filter, text }, "replace")} />
      {isFiltered(filter) && (
        <Button look="quiet" onClick={() => onFilter(NO_FILTER, "push")}>
          Clear filter
        </Button>
      )}
    </search>
  );
}
