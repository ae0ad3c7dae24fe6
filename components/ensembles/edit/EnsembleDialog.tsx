"use client";

import { useQuery } from "@tanstack/react-query";
import { useEffect, useRef, useState } from "react";
import { useEnsembleAct } from "@/components/api/acts";
import { useTRPC, useTRPCClient } from "@/components/api/trpc";
import { Button } from "@/components/ui/Button";
import { Check } from "@/components/ui/Check";
import { ErrorLine } from "@/components/ui/ErrorLine";
import { NumberField, SelectField, TextField } from "@/components/ui/Field";
import { Modal } from "@/components/ui/Modal";
import { NumberGuard } from "@/components/ui/NumberGuard";
import type { KeptEnsemble } from "@/server/contracts/studio";
import { AGGREGATE_ALL } from "@/solver/ensemble/gate/ensembleDocument";
import { isAggregateAll } from "@/solver/ensemble/gate/tauText";
import { useEnsembles } from "../address/useEnsembles";
import { ConfidenceFields } from "./ConfidenceFields";
import { EnsembleAdvanced } from "./EnsembleAdvanced";
import { ExpertsField } from "./ExpertsField";
import {
  composeEnsemble,
  type EnsembleForm,
  extractionOf,
  extractionOptions,
  formOf,
  newEnsembleForm,
  type Problems,
  takenName,
} from "./prepareEnsemble";
import { TryExtraction } from "./TryExtraction";

/** Models from cards, workloads and samples, each once. */
function useKnownModels(): readonly string[] {
  const trpc = useTRPC();
  const cards = useQuery(trpc.cards.list.queryOptions()).data?.models ?? [];
  const workloads = useQuery(trpc.workloads.list.queryOptions()).data ?? [];
  const samples = useQuery(trpc.ensembles.samples.queryOptions()).data ?? [];
  const answered = [...workloads, ...samples].flatMap(({ models }) => models.map(({ model }) => model));
  return [...new Set([...answered, ...cards.map(({ id }) => id)])];
}

/** Moves the focus to the first faulty field after each attempt to save. */
function useFirstProblem(tries: number) {
  const form = useRef<HTMLFormElement>(null);
  useEffect(() => {
    if (tries === 0 || form.current === null) return;
    for (const part of form.current.querySelectorAll("details")) if (part.querySelector(WRONG) !== null) part.open = true;
    form.current.querySelector<HTMLElement>(WRONG)?.focus();
  }, [tries]);
  return form;
}

const WRONG = '[aria-invalid="true"]';

/**
 * Creates an ensemble, or the next version of one. Problems are shown at their fields after the first attempt to save; a taken name at
 * once.
 */
export function EnsembleDialog(props: {
  /** null: a new one. */
  readonly kept: KeptEnsemble | null;
  readonly onClose: () => void;
  readonly onKept: (name: string) => void;
}) {
  const { onClose, onKept } = props;
  // Edits start from the state when the dialog opened, whatever others save meanwhile.
  const [kept] = useState(props.kept);
  const trpc = useTRPC();
  const client = useTRPCClient();
  const known = useKnownModels();
  const samples = useQuery(trpc.ensembles.samples.queryOptions()).data ?? [];
  const [form, setForm] = useState(() => (kept === null ? newEnsembleForm : formOf(kept.ensemble)));
  const [tries, setTries] = useState(0);
  const formBox = useFirstProblem(tries);
  const put = (change: Partial<EnsembleForm>) => setForm((old) => ({ ...old, ...change }));
  const made = composeEnsemble(form);
  const changed = kept?.ensemble.name ?? null;
  const name = form.name.trim();
  const taken = takenName(name, useEnsembles().data ?? [], changed);
  const problems: Problems = {
    ...(tries > 0 && "problems" in made ? made.problems : {}),
    ...(taken === null ? {} : { name: taken }),
  };
  const keep = useEnsembleAct(client.ensembles.keep.mutate, ({ name }) => onKept(name));
  return (
    <Modal
      open
      onOpenChange={(next) => !next && onClose()}
      title={kept === null ? "New ensemble" : `Change ${kept.ensemble.name}`}
      description={
        kept === null
          ? "Several models answer the same question; an aggregator combines their answers where they disagree."
          : "It is saved as the next version. Running batches and serving gateways keep the version they have."
      }
    >
      <NumberGuard>
        {(sound) => (
          <form
            ref={formBox}
            noValidate
            aria-label="Ensemble"
            className="flex flex-col gap-4"
            onSubmit={(event) => {
              event.preventDefault();
              setTries(tries + 1);
              if (!("ensemble" in made) || taken !== null || !sound || keep.isPending) return;
              keep.mutate({ ensemble: made.ensemble, expects: kept !== null && name === changed ? kept.version : null });
            }}
          >
            <TextField
              label="Name"
              value={form.name}
              maxLength={63}
              hint={`Clients ask for ensemble/${name || "<name>"}.${kept === null ? "" : " Under another name it is saved as another ensemble."}`}
              problem={problems.name}
              onChange={(typed) => put({ name: typed })}
            />
            <ExpertsField experts={form.experts} known={known} problem={problems.experts} onChange={(experts) => put({ experts })} />
            <div className="flex flex-wrap items-start gap-x-4 gap-y-3">
              <NumberField
                label="Experts a question"
                whole
                min={2}
                max={16}
                value={form.expertsPerQuestion}
                problem={problems.expertsPerQuestion}
                onChange={(expertsPerQuestion) => put({ expertsPerQuestion })}
              />
              <TextField
                className="min-w-56 flex-1"
                label="Aggregator"
                value={form.aggregator}
                maxLength={200}
                suggestions={known}
                problem={problems.aggregator}
                onChange={(aggregator) => put({ aggregator })}
              />
            </div>
            <div className="flex flex-col gap-3 border-t pt-3">
              <div className="flex flex-wrap items-start gap-x-4 gap-y-3">
                <SelectField
                  label="Vote of an answer"
                  value={form.extraction}
                  options={extractionOptions}
                  onChange={(extraction) => put({ extraction })}
                />
                {form.extraction === "pattern" && (
                  <TextField
                    className="min-w-56 flex-1"
                    label="Pattern (RE2); its first group, or the whole"
                    value={form.pattern}
                    maxLength={500}
                    placeholder="Answer:\s*(\w+)"
                    problem={problems.extraction}
                    onChange={(pattern) => put({ pattern })}
                  />
                )}
              </div>
              <TryExtraction extraction={extractionOf(form)} />
            </div>
            <div className="flex flex-col gap-3 border-t pt-3">
              <ConfidenceFields form={form} samples={samples} problem={problems.confidence} onChange={put} />
              <div className="flex flex-wrap items-start gap-x-4 gap-y-3">
                <div className="flex flex-col gap-1">
                  <NumberField
                    label="Tau"
                    hint="the aggregator is skipped from here on"
                    min={0.01}
                    max={1}
                    step={0.05}
                    value={Math.min(1, form.tau)}
                    disabled={isAggregateAll(form.tau)}
                    problem={problems.tau}
                    onChange={(tau) => put({ tau })}
                  />
                  <Check checked={isAggregateAll(form.tau)} onChange={(all) => put({ tau: all ? AGGREGATE_ALL : 1 })}>
                    Aggregate all
                  </Check>
                </div>
                <NumberField
                  label="Quorum, online"
                  unit="answers"
                  whole
                  min={1}
                  max={16}
                  value={form.quorum}
                  problem={problems.quorum}
                  onChange={(quorum) => put({ quorum })}
                />
                <NumberField
                  label="Deadline, online"
                  hint="at most half of a request's time limit"
                  unit="s"
                  min={0.1}
                  max={86_400}
                  value={form.deadlineSeconds}
                  problem={problems.deadlineSeconds}
                  onChange={(deadlineSeconds) => put({ deadlineSeconds })}
                />
              </div>
            </div>
            <EnsembleAdvanced form={form} problems={problems} put={put} />
            <ErrorLine error={keep.error} />
            {tries > 0 && ("problems" in made || taken !== null || !sound) && (
              <p role="status" className="text-sm text-ink-2">
                It is not saved yet: see the messages at its fields.
              </p>
            )}
            <div className="flex justify-end gap-2">
              <Button onClick={onClose}>Cancel</Button>
              <Button type="submit" look="primary" disabled={keep.isPending}>
                {keep.isPending ? "Saving …" : kept === null ? "Save" : "Save the next version"}
              </Button>
            </div>
          </form>
        )}
      </NumberGuard>
    </Modal>
  );
}
