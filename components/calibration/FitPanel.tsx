"use client";

import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import type { FitState, ProfileFit } from "@/server/contracts/studio";
import { choiceText } from "@/solver/calibration/chooseFit";
import { type EngineKind, type EngineProfile, engineNames, type KernelProfile } from "@/solver/hardware/engineProfile";
import { useTRPC, useTRPCClient } from "../api/trpc";
import { unwrapOutcome } from "../api/unwrapOutcome";
import { Button } from "../ui/Button";
import { SelectField, TextField } from "../ui/Field";
import { Panel } from "../ui/Panel";
import { PanelState, type PanelStatus } from "../ui/PanelState";
import { PermittedButton } from "../ui/PermittedButton";
import { CoefficientTable } from "./CoefficientTable";
import { ErrorTable } from "./ErrorTable";
import { coefficientWords, reasonWords } from "./prepareProfile";

/** A fit compared with the profile it began from: what changed, its errors, what it could not determine. */
function FitResult({ fit, base, file }: { readonly fit: ProfileFit; readonly base: KernelProfile; readonly file: string }) {
  const { profile, trainErrors, keptAside, heldOutErrors, choice, notFitted, outliers } = fit;
  const sets = [
    { name: "rows seen", errors: trainErrors },
    ...(heldOutErrors === null ? [] : [{ name: "rows unseen", errors: heldOutErrors }]),
  ];
  return (
    <div className="grid gap-x-8 gap-y-6 xl:grid-cols-[minmax(0,3fr)_minmax(0,2fr)]">
      <CoefficientTable profile={profile} before={base} />
      <div className="flex min-w-0 flex-col gap-6">
        <section className="flex flex-col gap-2">
          <h3 className="text-sm font-semibold">Errors</h3>
          <ErrorTable caption={`Errors of ${profile.name}`} sets={sets} />
          <p className="text-xs text-ink-3">
            {heldOutErrors === null
              ? "All rows have one model, GPU, shape and lengths: the error at other lengths is unknown."
              : "Unseen: five-fold cross-validation over models, shapes and lengths. Excluded rows count in neither."}
          </p>
        </section>
        <section className="flex flex-col gap-2">
          <h3 className="text-sm font-semibold">Efficiencies of kernels: fitted or not</h3>
          {choice.errors !== null && (
            <ErrorTable
              caption="Errors of both fits on held-out rows"
              sets={[
                { name: choice.efficiencies ? "without" : "without (taken)", errors: choice.errors.hostTerms },
                { name: choice.efficiencies ? "with (taken)" : "with", errors: choice.errors.withEfficiencies },
              ]}
            />
          )}
          <p className="text-sm text-ink-2">{choiceText(choice)}</p>
          {choice.errors !== null && keptAside?.by === "concurrency" && (
            <p className="text-xs text-ink-3">All rows have the same lengths: held-out rows differ in requests in flight.</p>
          )}
        </section>
        {notFitted.length > 0 && (
          <section className="flex flex-col gap-2">
            <h3 className="text-sm font-semibold">Unchanged coefficients</h3>
            <ul className="flex list-disc flex-col gap-1 pl-4 text-sm text-ink-2">
              {notFitted.map(({ coefficient, reason }) => (
                <li key={coefficient}>
                  {coefficientWords(coefficient)}: {reasonWords(reason)}.
                </li>
              ))}
            </ul>
          </section>
        )}
        {outliers.length > 0 && (
          <section className="flex flex-col gap-2">
            <h3 className="text-sm font-semibold">Excluded rows</h3>
            <ul className="flex list-disc flex-col gap-1 pl-4 text-sm text-ink-2">
              {outliers.map(({ line, reason }) => (
                <li key={line}>
                  {file} line {line}: {reason}.
                </li>
              ))}
            </ul>
          </section>
        )}
      </div>
    </div>
  );
}

/** Whether the fit includes the kernels' efficiencies; null: the error on rows kept aside decides. */
const efficienciesAsked = { "by-error": null, fitted: true, kept: false } as const;

const efficiencyOptions = [
  { value: "by-error", text: "fitted if that predicts unseen rows better" },
  { value: "fitted", text: "fitted too" },
  { value: "kept", text: "unchanged" },
] as const satisfies readonly { readonly value: keyof typeof efficienciesAsked; readonly text: string }[];

/** Polling interval of a running fit. */
const ASK_AGAIN_MS = 1000;

/** Fits a profile to the rows of an uploaded table, compares it with the one before, and saves it. The fit continues when the page is left. */
export function FitPanel(props: {
  readonly uploadId: string;
  /** Name of the table, for messages about its lines. */
  readonly file: string;
  readonly profile: EngineProfile;
  /** Engines that have rows. */
  readonly engines: readonly EngineKind[];
  readonly baseOf: (engine: EngineKind) => EngineProfile;
  /** The fit that is shown, running or done; null: none. */
  readonly fitId: string | null;
  readonly onFit: (id: string) => void;
  readonly onKept: (id: string) => void;
}) {
  const { fitId } = props;
  const trpc = useTRPC();
  const client = useTRPCClient();
  const queries = useQueryClient();
  const [engine, setEngine] = useState(props.engines.find((kind) => kind === props.profile.engine) ?? props.engines[0] ?? "vllm");
  const [efficiencies, setEfficiencies] = useState<keyof typeof efficienciesAsked>("by-error");
  const [tpotOnly, setTpotOnly] = useState(false);
  const [name, setName] = useState("");
  const base = props.baseOf(engine);
  const fit = useQuery(
    trpc.calibrations.fit.queryOptions(
      { id: fitId ?? "" },
      { enabled: fitId !== null, refetchInterval: ({ state }) => (state.data?.kind === "running" ? ASK_AGAIN_MS : false) },
    ),
  );
  const start = useMutation({
    mutationFn: async () => {
      const request = {
        uploadId: props.uploadId,
        profileId: base.id,
        engine,
        efficiencies: efficienciesAsked[efficiencies],
        tpotOnly,
        name: name.trim(),
      };
      return unwrapOutcome(await client.calibrations.startFit.mutate(request));
    },
    onSuccess: ({ id }) => props.onFit(id),
  });
  const stop = useMutation({
    mutationFn: async (id: string) => unwrapOutcome(await client.calibrations.stopFit.mutate({ id })),
    onSettled: () => queries.invalidateQueries(trpc.calibrations.fit.pathFilter()),
  });
  const keep = useMutation({
    mutationFn: async (profile: EngineProfile) => unwrapOutcome(await client.calibrations.keep.mutate({ profile })),
    onSuccess: async ({ id }) => {
      await queries.invalidateQueries(trpc.calibrations.pathFilter());
      props.onKept(id);
    },
  });
  const running = fit.data?.kind === "running";
  const problem = start.error ?? stop.error ?? keep.error;
  return (
    <Panel title="Fit to these rows">
      <form
        className="mb-4 flex flex-wrap items-end gap-x-6 gap-y-3"
        onSubmit={(event) => {
          event.preventDefault();
          start.mutate();
        }}
      >
        <SelectField
          label="Engine"
          value={engine}
          options={props.engines.map((kind) => ({ value: kind, text: engineNames[kind] }))}
          onChange={setEngine}
        />
        <TextField
          label="Name of the profile"
          value={name}
          maxLength={80}
          placeholder={`such as our ${engineNames[engine]}`}
          onChange={setName}
        />
        <SelectField label="Efficiencies of kernels" value={efficiencies} options={efficiencyOptions} onChange={setEfficiencies} />
        <Choice checked={tpotOnly} onChange={setTpotOnly}>
          TPOT only, for clients or front ends that delay first tokens
        </Choice>
        {running && fitId !== null ? (
          <PermittedButton permission="prepare" disabled={stop.isPending} onClick={() => stop.mutate(fitId)}>
            Stop
          </PermittedButton>
        ) : (
          <PermittedButton permission="prepare" type="submit" look="primary" disabled={name.trim() === "" || start.isPending}>
            Fit to these rows
          </PermittedButton>
        )}
        {name.trim() === "" && !running && <span className="flex h-8 items-center text-xs text-ink-3">Give it a name.</span>}
      </form>
      {problem !== null && (
        <p role="alert" className="mb-3 text-sm text-bad">
          {problem.message}
        </p>
      )}
      <PanelState status={statusOf(fitId, fit, base)}>
        {() =>
          fit.data?.kind !== "fitted" ? null : (
            <div className="flex flex-col gap-4">
              <FitResult fit={fit.data.fit} base={fit.data.base} file={props.file} />
              <Button
                className="self-end"
                look="primary"
                disabled={keep.isPending}
                onClick={() => fit.data?.kind === "fitted" && keep.mutate(fit.data.fit.profile)}
              >
                Save as profile
              </Button>
            </div>
          )
        }
      </PanelState>
    </Panel>
  );
}

function Choice(props: { readonly checked: boolean; readonly onChange: (checked: boolean) => void; readonly children: string }) {
  return (
    <label className="inline-flex min-h-8 items-center gap-2 text-sm">
      <input
        type="checkbox"
        className="size-4 accent-(--accent)"
        checked={props.checked}
        onChange={(event) => props.onChange(event.target.checked)}
      />
      {props.children}
    </label>
  );
}

function statusOf(
  fitId: string | null,
  { data, error }: { readonly data: FitState | null | undefined; readonly error: { readonly message: string } | null },
  base: KernelProfile,
): PanelStatus {
  if (fitId === null) {
    return {
      kind: "empty",
      title: "Nothing fitted yet",
      text: `A fit starts from "${base.name}", adjusts the coefficients that these rows determine, and is tested on held-out rows. The held-out rows also decide whether kernel efficiencies are fitted. It takes seconds to minutes and continues when you leave this page.`,
    };
  }
  if (error !== null) return { kind: "error", message: error.message, retry: null };
  if (data === undefined) return { kind: "loading", what: "Reading the fit" };
  if (data === null) return { kind: "empty", title: "This fit is no longer stored", text: "Fit again to see it." };
  switch (data.kind) {
    case "running":
      return { kind: "loading", what: `Fitting "${data.name}": every row is simulated about a hundred times` };
    case "stopped":
      return { kind: "empty", title: "Stopped", text: `The fit of "${data.name}" was stopped and has no result.` };
    case "refused":
      return { kind: "error", message: data.message, retry: null };
    case "fitted":
      return { kind: "ready" };
  }
}
