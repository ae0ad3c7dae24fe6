"use client";

import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import type { Measuring, MeasuringAnnouncement, MeasuringOrder } from "@/server/contracts/studio";
import type { EngineProfile } from "@/solver/hardware/engineProfile";
import { useTRPC, useTRPCClient } from "../api/trpc";
import { unwrapOutcome } from "../api/unwrapOutcome";
import { prepareScatter } from "../charts/prepareScatter";
import { ScatterChart } from "../charts/ScatterChart";
import { ClusterLink } from "../shell/ClusterLink";
import { Button } from "../ui/Button";
import { ErrorLine } from "../ui/ErrorLine";
import { Panel } from "../ui/Panel";
import { PermittedButton } from "../ui/PermittedButton";
import { MeasureForm } from "./MeasureForm";
import { noiseText } from "./prepareMeasured";
import { announcementTexts, errorSentence, progressText, scatterOf, setAsideText, usedShare } from "./prepareMeasuring";
import { type MeasuringTarget, measuringForm, measuringOrder } from "./prepareMeasuringOrder";

const ASK_AGAIN_MS = 1000;

const isUnderWay = (measuring: Measuring | null | undefined): boolean => measuring?.state.kind === "running";

interface MeasurePanelProps {
  /** What the page's address names of the engine: the fields begin with it. */
  readonly target: MeasuringTarget;
  /** The profile that plans use now. */
  readonly inUse: Pick<EngineProfile, "id" | "name">;
  readonly onShow: (profileId: string) => void;
}

/** `Measure this engine`: announces its load, sends it, and shows the fit against the runs. It continues when the page is left. */
export function MeasurePanel({ target, inUse, onShow }: MeasurePanelProps) {
  const trpc = useTRPC();
  const client = useTRPCClient();
  const queries = useQueryClient();
  const [form, setForm] = useState(() => measuringForm(target));
  const [announced, setAnnounced] = useState<{ readonly order: MeasuringOrder; readonly load: MeasuringAnnouncement } | null>(null);
  const renew = () => queries.invalidateQueries(trpc.measuring.state.pathFilter());
  const { data: measuring } = useQuery(
    trpc.measuring.state.queryOptions(undefined, { refetchInterval: ({ state }) => (isUnderWay(state.data) ? ASK_AGAIN_MS : false) }),
  );
  const announce = useMutation({
    mutationFn: async (order: MeasuringOrder) => ({ order, load: unwrapOutcome(await client.measuring.announce.mutate(order)).announced }),
    onSuccess: setAnnounced,
  });
  const start = useMutation({
    mutationFn: async (order: MeasuringOrder) => unwrapOutcome(await client.measuring.start.mutate(order)),
    onSuccess: async () => {
      setAnnounced(null);
      await renew();
    },
  });
  const stop = useMutation({ mutationFn: async () => unwrapOutcome(await client.measuring.stop.mutate()), onSettled: renew });
  const order = measuringOrder(form);
  return (
    <Panel title="Measure this engine">
      <p className="mb-3 text-sm text-ink-2">
        For an engine on hardware without kernel tables, or to replace them: Weir sends load of its own and fits the engine's times to it.
      </p>
      <MeasureForm
        form={form}
        onChange={(change) => setForm((known) => ({ ...known, ...change }))}
        disabled={order === null || announce.isPending || isUnderWay(measuring)}
        onSubmit={() => {
          if (order !== null) announce.mutate(order);
        }}
      />
      <ErrorLine error={announce.error ?? start.error ?? stop.error} />
      {announced !== null && (
        <section aria-label="Load of the measurement" className="mb-4 flex flex-col gap-2 rounded border bg-panel p-3 text-sm">
          {announcementTexts(announced.load, { servingOthers: announced.order.servingOthers, inUse: inUse.name }).map((sentence) => (
            <p key={sentence}>{sentence}</p>
          ))}
          <div className="flex gap-3">
            <PermittedButton permission="attach" look="primary" disabled={start.isPending} onClick={() => start.mutate(announced.order)}>
              Send this load
            </PermittedButton>
            <Button look="quiet" onClick={() => setAnnounced(null)}>
              Cancel
            </Button>
          </div>
        </section>
      )}
      {measuring !== null && measuring !== undefined && (
        <Progress measuring={measuring} inUse={inUse} stopping={stop.isPending} onStop={() => stop.mutate()} onShow={onShow} />
      )}
    </Panel>
  );
}

interface ProgressProps extends Pick<MeasurePanelProps, "inUse" | "onShow"> {
  readonly measuring: Measuring;
  readonly stopping: boolean;
  readonly onStop: () => void;
}

function Progress(props: ProgressProps) {
  const { measuring } = props;
  const { state } = measuring;
  if (state.kind === "refused")
    return (
      <p role="alert" className="text-sm text-bad">
        {state.message}
      </p>
    );
  if (state.kind === "measured") return <Result points={measuring.points} state={state} inUse={props.inUse} onShow={props.onShow} />;
  return (
    <div className="flex flex-wrap items-center gap-3 text-sm">
      <progress aria-label="Budget used" max={1} value={usedShare(measuring)} />
      <p role="status">{progressText(measuring)}</p>
      <PermittedButton permission="operate" disabled={props.stopping} onClick={props.onStop}>
        Stop
      </PermittedButton>
    </div>
  );
}

interface ResultProps extends Pick<MeasurePanelProps, "inUse" | "onShow"> {
  readonly points: Measuring["points"];
  readonly state: Extract<Measuring["state"], { kind: "measured" }>;
}

function Result({ points, state, inUse, onShow }: ResultProps) {
  const profileId = state.profile.id;
  const trpc = useTRPC();
  const client = useTRPCClient();
  const queries = useQueryClient();
  const [pointed, setPointed] = useState<number | null>(null);
  const use = useMutation({
    mutationFn: async () => unwrapOutcome(await client.calibrations.use.mutate({ id: profileId })),
    onSuccess: () => queries.invalidateQueries({ queryKey: trpc.pathKey() }),
  });
  const picture = prepareScatter(scatterOf(points, "endToEnd"));
  const engine = state.profile.engines.at(-1);
  return (
    <div className="grid gap-x-8 gap-y-4 lg:grid-cols-2">
      <div className="flex flex-col gap-2">
        <h3 className="text-sm font-semibold">Predicted (y) against measured (x) end to end</h3>
        {picture !== null && (
          <ScatterChart picture={picture} name="end to end" pointed={pointed} onPoint={setPointed} onPick={setPointed} />
        )}
      </div>
      <div className="flex flex-col gap-3 text-sm">
        <p>{errorSentence(points, state.errorsOf)}</p>
        {engine !== undefined && <p>{noiseText(engine)}</p>}
        {state.stopped && <p>The measurement was stopped before its budget was used.</p>}
        {inUse.id !== profileId && <p>{setAsideText(inUse.name)}</p>}
        <ErrorLine error={use.error} />
        <div className="flex flex-wrap gap-3">
          <PermittedButton
            permission="prepare"
            look="primary"
            disabled={use.isPending || inUse.id === profileId}
            onClick={() => use.mutate()}
          >
            Plan with it
          </PermittedButton>
          <Button onClick={() => onShow(profileId)}>Show the profile</Button>
        </div>
        {inUse.id === profileId && (
          <p role="status">
            Plans use it from now on. <ClusterLink to="/plan">Go to Plan</ClusterLink>
          </p>
        )}
      </div>
    </div>
  );
}
