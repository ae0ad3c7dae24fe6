"use client";

import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import type { Panic } from "@/server/contracts/studio";
import { useGatewayAct } from "../api/acts";
import { useTRPC, useTRPCClient } from "../api/trpc";
import { unwrapOutcome } from "../api/unwrapOutcome";
import { Button } from "../ui/Button";
import { ErrorLine } from "../ui/ErrorLine";
import { SelectField, TextField } from "../ui/Field";
import { formatCounted } from "../ui/format";
import { Modal } from "../ui/Modal";
import { NoteList } from "../ui/Notes";
import { PanelState } from "../ui/PanelState";
import { PermittedButton } from "../ui/PermittedButton";
import { queryStatus } from "../ui/queryStatus";
import { ReasonField } from "../ui/ReasonField";
import { panicCommand, panicModel, preparePanicSteps, standingPanic } from "./preparePanicSteps";

/** Typed to confirm: one accidental click must not move all traffic. */
const CONFIRMATION = "panic";

/** Models are loaded before the dialog opens, so that it never waits. */
const REFRESH_MS = 10_000;

/** The choices and texts: they are kept when the dialog is closed. */
interface Draft {
  readonly model: string | null;
  readonly reason: string;
}

const NOTHING: Draft = { model: null, reason: "" };

function usePanicModels(clusterId: string) {
  const trpc = useTRPC();
  return useQuery(
    trpc.gateway.models.queryOptions({ clusterId }, { staleTime: 0, refetchInterval: REFRESH_MS, retry: false, select: unwrapOutcome }),
  );
}

function Command({ model, reason }: { readonly model: string; readonly reason: string }) {
  return (
    <p className="text-xs text-ink-3">
      Without the studio, on the gateway's machine:{" "}
      <code className="font-mono [overflow-wrap:anywhere]">{panicCommand(model, reason)}</code>
    </p>
  );
}

function PanicForm(props: {
  readonly clusterId: string;
  readonly draft: Draft;
  readonly onDraft: (draft: Draft) => void;
  readonly onDone: () => void;
  readonly onLeave: () => void;
}) {
  const { clusterId, draft, onDraft } = props;
  const client = useTRPCClient();
  const models = usePanicModels(clusterId);
  const offered = (models.data?.models ?? []).filter(({ engines }) => engines > 0);
  const [typed, setTyped] = useState("");
  const model = offered.find((each) => each.model === draft.model) ?? panicModel(offered);
  const act = useGatewayAct(
    (target: string) => client.gateway.panic.mutate({ clusterId, model: target, reason: draft.reason }),
    props.onDone,
  );
  const ready = draft.reason.trim() !== "" && typed.trim().toLowerCase() === CONFIRMATION;
  if (model === null) {
    const status = queryStatus(models, {
      what: "Reading the gateway's models",
      empty: models.data !== undefined && {
        kind: "empty",
        title: "No model can take the requests",
        text: "No engine of any model takes work at this gateway: apply a plan first.",
      },
    });
    return (
      <>
        <PanelState status={status}>{() => null}</PanelState>
        <Command model="MODEL" reason="" />
      </>
    );
  }
  return (
    <form
      className="flex flex-col gap-4"
      onSubmit={(event) => {
        event.preventDefault();
        if (ready && !act.isPending) act.mutate(model.model);
      }}
    >
      <SelectField
        label="Model that is to answer everything"
        value={model.model}
        options={offered.map((each) => ({ value: each.model, text: `${each.model}, ${formatCounted(each.engines, "engine")}` }))}
        onChange={(chosen) => onDraft({ ...draft, model: chosen })}
      />
      <NoteList items={preparePanicSteps(model)} className="flex list-disc flex-col gap-1 pl-5 text-sm text-ink-2" />
      <ReasonField label="Reason" value={draft.reason} onChange={(reason) => onDraft({ ...draft, reason })} />
      <TextField label={`Type ${CONFIRMATION} to confirm`} value={typed} maxLength={20} onChange={setTyped} />
      <ErrorLine error={act.error} />
      <Command model={model.model} reason={draft.reason} />
      <div className="flex flex-wrap justify-end gap-2">
        <Button onClick={props.onLeave}>Leave routing as it is</Button>
        <PermittedButton permission="operate" type="submit" look="danger" disabled={!ready}>
          {act.isPending ? "Waiting for the gateway …" : `Send everything to ${model.model}`}
        </PermittedButton>
      </div>
    </form>
  );
}

/** For a policy that does harm: sends all traffic to one model, after a typed confirmation. */
export function PanicButton({ clusterId, panic }: { readonly clusterId: string; readonly panic: Panic | null }) {
  const [open, setOpen] = useState(false);
  const [draft, setDraft] = useState(NOTHING);
  usePanicModels(clusterId);
  return (
    <>
      <Button look="danger" onClick={() => setOpen(true)}>
        Panic
      </Button>
      <Modal
        open={open}
        onOpenChange={setOpen}
        title={panic === null ? "Send every request to one model?" : "Change the panic?"}
        description={
          panic === null
            ? "Use it when the policy in force does harm. It takes effect immediately and lasts until it is cleared."
            : standingPanic(panic)
        }
      >
        <PanicForm
          clusterId={clusterId}
          draft={draft}
          onDraft={setDraft}
          onLeave={() => setOpen(false)}
          onDone={() => {
            setDraft(NOTHING);
            setOpen(false);
          }}
        />
      </Modal>
    </>
  );
}
