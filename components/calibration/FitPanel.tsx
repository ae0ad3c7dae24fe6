"use client";

import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useRef, useState } from "react";
import type { ProfileFit } from "@/server/contracts/studio";
import { type EngineKind, type EngineProfile, engineNames } from "@/solver/hardware/engineProfile";
import { takeOutcome } from "../api/takeOutcome";
import { useTRPC, useTRPCClient } from "../api/trpc";
import { Button } from "../ui/Button";
import { SelectField, TextField } from "../ui/Field";
import { Panel } from "../ui/Panel";
import { PanelState, type PanelStatus } from "../ui/PanelState";
import { CoefficientTable } from "./CoefficientTable";
import { ErrorTable } from "./ErrorTable";
import { coefficientWords } from "./prepareProfile";

/** A fit beside the profile it began from: what changed, how far it is off, what it could not tell. */
function FitResult({ fit, base }: { readonly fit: ProfileFit; readonly base: EngineProfile }) {
  const { profile, trainErrors, heldOutErrors, notFitted, outliers } = fit;
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
              ? "All rows are of one model, GPU, shape and lengths: no row was left to try the fit on."
              : "Unseen: each fifth of the models, shapes and lengths was predicted by a fit to the others. Rows set aside count in both."}
          </p>
        </section>
        {notFitted.length > 0 && (
          <section className="flex flex-col gap-2">
            <h3 className="text-sm font-semibold">Left as they were</h3>
            <ul className="flex list-disc flex-col gap-1 pl-4 text-sm text-ink-2">
              {notFitted.map(({ coefficient, reason }) => (
                <li key={coefficient}>
                  {coefficientWords(coefficient)}: {reason}.
                </li>
              ))}
            </ul>
          </section>
        )}
        {outliers.length > 0 && (
          <section className="flex flex-col gap-2">
            <h3 className="text-sm font-semibold">Rows set aside</h3>
            <ul className="flex list-disc flex-col gap-1 pl-4 text-sm text-ink-2">
              {outliers.map(({ line, reason }) => (
                <li key={line}>
                  Line {line}: {reason}.
                </li>
              ))}
            </ul>
          </section>
        )}
      </div>
    </div>
  );
}

/** Fits a profile to the rows of an uploaded table, shows it beside the one before, and keeps it. */
export function FitPanel(props: {
  readonly uploadId: string;
  readonly profile: EngineProfile;
  /** Engines that have rows. */
  readonly engines: readonly EngineKind[];
  readonly baseOf: (engine: EngineKind) => EngineProfile;
  readonly onKept: (id: string) => void;
}) {
  const trpc = useTRPC();
  const client = useTRPCClient();
  const queries = useQueryClient();
  const [engine, setEngine] = useState(props.engines.find((kind) => kind === props.profile.engine) ?? props.engines[0] ?? "vllm");
  const [efficiencies, setEfficiencies] = useState(false);
  const [name, setName] = useState("");
  const stop = useRef<AbortController | null>(null);
  const base = props.baseOf(engine);
  const fit = useMutation({
    mutationFn: async () => {
      stop.current = new AbortController();
      const { signal } = stop.current;
      const request = { uploadId: props.uploadId, profileId: base.id, engine, efficiencies, name: name.trim() };
      return { base, ...takeOutcome(await client.calibrations.fit.mutate(request, { signal })) };
    },
  });
  const keep = useMutation({
    mutationFn: async (profile: EngineProfile) => takeOutcome(await client.calibrations.keep.mutate({ profile })),
    onSuccess: async ({ id }) => {
      await queries.invalidateQueries(trpc.calibrations.pathFilter());
      props.onKept(id);
    },
  });
  const stopped = stop.current?.signal.aborted === true;
  const status: PanelStatus = fit.isPending
    ? { kind: "loading", what: "Fitting: every row is simulated some hundred times" }
    : fit.error !== null && !stopped
      ? { kind: "error", message: fit.error.message, retry: () => fit.mutate() }
      : fit.data === undefined
        ? {
            kind: "empty",
            title: "Nothing fitted yet",
            text: `A fit begins at "${base.name}", changes what these rows can tell, and is tried on rows it has not seen. It takes seconds to minutes.`,
          }
        : { kind: "ready" };
  return (
    <Panel title="Fit to these rows">
      <form
        className="mb-4 flex flex-wrap items-end gap-x-6 gap-y-3"
        onSubmit={(event) => {
          event.preventDefault();
          fit.mutate();
        }}
      >
        <SelectField
          label="Engine"
          value={engine}
          options={props.engines.map((kind) => ({ value: kind, text: engineNames[kind] }))}
          onChange={(value) => setEngine(props.engines.find((kind) => kind === value) ?? engine)}
        />
        <TextField
          label="Name of the profile"
          value={name}
          maxLength={80}
          placeholder={`such as our ${engineNames[engine]}`}
          onChange={setName}
        />
        <label className="inline-flex h-8 items-center gap-2 text-sm">
          <input
            type="checkbox"
            className="size-4 accent-(--accent)"
            checked={efficiencies}
            onChange={(event) => setEfficiencies(event.target.checked)}
          />
          Efficiencies of kernels too, not only host and link terms
        </label>
        {fit.isPending ? (
          <Button onClick={() => stop.current?.abort()}>Stop</Button>
        ) : (
          <Button type="submit" look="primary" disabled={name.trim() === ""}>
            Fit to these rows
          </Button>
        )}
        {name.trim() === "" && <span className="flex h-8 items-center text-xs text-ink-3">Give it a name.</span>}
      </form>
      <PanelState status={status}>
        {() =>
          fit.data === undefined ? null : (
            <div className="flex flex-col gap-4">
              <FitResult fit={fit.data.fit} base={fit.data.base} />
              <div className="flex flex-wrap items-center justify-end gap-3">
                {keep.error !== null && (
                  <p role="alert" className="text-sm text-bad">
                    {keep.error.message}
                  </p>
                )}
                <Button
                  look="primary"
                  disabled={keep.isPending}
                  onClick={() => fit.data !== undefined && keep.mutate(fit.data.fit.profile)}
                >
                  Save as profile
                </Button>
              </div>
            </div>
          )
        }
      </PanelState>
    </Panel>
  );
}
