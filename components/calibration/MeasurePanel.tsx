"use client";

import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import type { Measuring, MeasuringAnnouncement, MeasuringOrder } from "@/server/contracts/studio";
import { useTRPC, useTRPCClient } from "../api/trpc";
import { unwrapOutcome } from "../api/unwrapOutcome";
import { prepareScatter } from "../charts/prepareScatter";
import { ScatterChart } from "../charts/ScatterChart";
import { noReference, referenceFault, referenceOf } from "../clusters/prepareAttach";
import { ReferenceField } from "../clusters/ReferenceField";
import { ClusterLink } from "../shell/ClusterLink";
import { Button } from "../ui/Button";
import { Check } from "../ui/Check";
import { ErrorLine } from "../ui/ErrorLine";
import { NumberField, TextField } from "../ui/Field";
import { Panel } from "../ui/Panel";
import { PermittedButton } from "../ui/PermittedButton";
import { noiseText } from "./prepareMeasured";
import { announcementTexts, errorSentence, progressText, scatterOf, usedShare } from "./prepareMeasuring";

const ASK_AGAIN_MS = 1000;

const isUnderWay = (measuring: Measuring | null | undefined): boolean => measuring?.state.kind === "running";

/** `Measure this engine`: announces its load, sends it, and shows the fit against the runs. It continues when the page is left. */
export function MeasurePanel({ onShow }: { readonly onShow: (profileId: string) => void }) {
  const trpc = useTRPC();
  const client = useTRPCClient();
  const queries = useQueryClient();
  const [url, setUrl] = useState("");
  const [model, setModel] = useState("");
  const [gpu, setGpu] = useState("");
  const [minutes, setMinutes] = useState(6);
  const [key, setKey] = useState(noReference);
  const [servingOthers, setServingOthers] = useState(false);
  const [announced, setAnnounced] = useState<{ readonly order: MeasuringOrder; readonly load: MeasuringAnnouncement } | null>(null);
  const renew = () => queries.invalidateQueries(trpc.measuring.state.pathFilter());
  const { data: measuring } = useQuery(
    trpc.measuring.state.queryOptions(undefined, { refetchInterval: ({ state }) => (isUnderWay(state.data) ? ASK_AGAIN_MS : false) }),
  );
  const announce = useMutation({
    mutationFn: async () => {
      const order = {
        ...{ url: url.trim(), model: model.trim() || null, gpu: gpu.trim() || null },
        ...{ minutes, tokens: Math.round(MOST_TOKENS_A_MINUTE * minutes), servingOthers, key: referenceOf(key) ?? undefined },
      };
      return { order, load: unwrapOutcome(await client.measuring.announce.mutate(order)).announced };
    },
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
  return (
    <Panel title="Measure this engine">
      <p className="mb-3 text-sm text-ink-2">
        For an engine on hardware without kernel tables, or to replace them: Weir sends load of its own and fits the engine's times to it.
      </p>
      <form
        className="mb-4 flex flex-wrap items-end gap-x-6 gap-y-3"
        onSubmit={(event) => {
          event.preventDefault();
          announce.mutate();
        }}
      >
        <TextField label="Address" value={url} maxLength={500} placeholder="such as http://127.0.0.1:8000" onChange={setUrl} />
        <TextField label="Model" value={model} maxLength={200} placeholder="the only one" onChange={setModel} />
        <TextField label="GPU card" value={gpu} maxLength={80} placeholder="this host's processor" onChange={setGpu} />
        <NumberField label="Minutes" value={minutes} min={0.1} max={600} step={1} onChange={setMinutes} />
        <ReferenceField label="API key" value={key} onChange={setKey} />
        <Check checked={servingOthers} onChange={setServingOthers}>
          It may serve others meanwhile
        </Check>
        <PermittedButton
          permission="attach"
          type="submit"
          disabled={url.trim() === "" || referenceFault(key) !== null || announce.isPending || isUnderWay(measuring)}
        >
          Measure this engine
        </PermittedButton>
      </form>
      <ErrorLine error={announce.error ?? start.error ?? stop.error} />
      {announced !== null && (
        <section aria-label="Load of the measurement" className="mb-4 flex flex-col gap-2 rounded border bg-panel p-3 text-sm">
          {announcementTexts(announced.load, announced.order.servingOthers).map((sentence) => (
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
        <Progress measuring={measuring} stopping={stop.isPending} onStop={() => stop.mutate()} onShow={onShow} />
      )}
    </Panel>
  );
}

/** Most tokens of a measurement for each of its minutes: its time ends first on any engine slower than this. */
const MOST_TOKENS_A_MINUTE = 1_000_000;

function Progress(props: {
  readonly measuring: Measuring;
  readonly stopping: boolean;
  readonly onStop: () => void;
  readonly onShow: (profileId: string) => void;
}) {
  const { measuring } = props;
  const { state } = measuring;
  if (state.kind === "refused")
    return (
      <p role="alert" className="text-sm text-bad">
        {state.message}
      </p>
    );
  if (state.kind === "measured") return <Result points={measuring.points} state={state} onShow={props.onShow} />;
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

function Result(props: {
  readonly points: Measuring["points"];
  readonly state: Extract<Measuring["state"], { kind: "measured" }>;
  readonly onShow: (profileId: string) => void;
}) {
  const { points, state, onShow } = props;
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
        <ErrorLine error={use.error} />
        <div className="flex flex-wrap gap-3">
          <PermittedButton permission="prepare" look="primary" disabled={use.isPending || use.isSuccess} onClick={() => use.mutate()}>
            Plan with it
          </PermittedButton>
          <Button onClick={() => onShow(profileId)}>Show the profile</Button>
        </div>
        {use.isSuccess && (
          <p role="status">
            Plans use it from now on. <ClusterLink to="/plan">Go to Plan</ClusterLink>
          </p>
        )}
      </div>
    </div>
  );
}
