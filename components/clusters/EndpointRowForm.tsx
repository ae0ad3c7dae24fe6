import { useState } from "react";
import type { EndpointDraft, EndpointToTry, GuessedField } from "@/server/contracts/studio";
import type { EngineLimits } from "@/solver/hardware/engineLimits";
import { MAX_BATCHED_TOKENS, MAX_SEQUENCES } from "@/solver/hardware/replicaShapes";
import { StateWord } from "../ui/Badge";
import { Button } from "../ui/Button";
import { NumberField, SelectField, TextField } from "../ui/Field";
import { Notes } from "../ui/Notes";
import { FindingList } from "./FindingList";
import { noReference, type ReferenceForm, referenceFault, referenceForm, referenceOf } from "./prepareAttach";
import type { Cards, EndpointEdits, EndpointRow } from "./prepareEndpointRows";
import { ReferenceField } from "./ReferenceField";

const precisions = ["bf16", "fp8", "int4"] as const;
const options = (ids: readonly string[]) => ids.map((id) => ({ value: id, text: id }));

interface Editing {
  readonly row: EndpointRow;
  readonly cards: Cards | undefined;
  readonly onEdit: (edits: EndpointEdits) => void;
}

/** One pasted address: what was found, what would be attached, and fields for what was not found. */
export function EndpointRowForm(
  props: Editing & {
    readonly endpoint: EndpointToTry;
    readonly onTryAgain: (endpoint: EndpointToTry) => void;
  },
) {
  const { row, cards, endpoint, onEdit, onTryAgain } = props;
  return (
    <li className="flex flex-col gap-2 border-b py-3 last:border-0" data-testid="endpoint" aria-label={row.url}>
      <div className="flex flex-wrap items-center gap-x-3 gap-y-1">
        <StateWord tone={row.tone}>{row.word}</StateWord>
        <span className="min-w-0 font-medium [overflow-wrap:anywhere]">{row.url}</span>
        {row.trying && row.word !== "trying" && <span className="text-xs text-ink-3">trying again …</span>}
        <span className="min-w-0 text-xs text-ink-3 [overflow-wrap:anywhere]">{row.fine}</span>
      </div>
      {row.faults.length > 0 && (
        <FindingList findings={row.faults} label={`Problems of ${row.name}`} onAllowed={() => onTryAgain(endpoint)} />
      )}
      <Notes items={row.questions} className="text-sm text-warn" />
      {row.served.length > 1 && (
        <SelectField
          label={`Model that ${row.name} serves`}
          className="max-w-96"
          value={endpoint.servedName ?? ""}
          options={[...(endpoint.servedName === undefined ? [{ value: "", text: "choose one" }] : []), ...options(row.served)]}
          onChange={(servedName) => servedName !== "" && onTryAgain({ ...endpoint, servedName })}
        />
      )}
      {row.adapters.length > 0 && (
        <p className="text-sm text-ink-2">
          Adapters of {row.draft?.model}: {row.adapters.join(", ")}. They are attached with it as models of their own, and share its GPUs.
        </p>
      )}
      {row.draft === null ? (
        row.served.length > 0 && <CardChoice row={row} cards={cards} onEdit={onEdit} />
      ) : (
        <DraftFields row={row} draft={row.draft} cards={cards} onEdit={onEdit} />
      )}
      {row.word !== "trying" && <AccessFields row={row} endpoint={endpoint} onTryAgain={onTryAgain} />}
    </li>
  );
}

function CardChoice({ row, cards, onEdit }: Editing) {
  return (
    <SelectField
      label={`Model card of ${row.name}`}
      className="max-w-96"
      value=""
      options={[{ value: "", text: "choose a card" }, ...options((cards?.models ?? []).map(({ id }) => id))]}
      onChange={(model) => model !== "" && onEdit({ model })}
    />
  );
}

/** The values to attach, with a mark at each one that is not confirmed, and why it was chosen. */
function DraftFields({ row, draft, cards, onEdit }: Editing & { readonly draft: EndpointDraft }) {
  const about = (field: GuessedField, label: string) => ({
    label: `${label}${row.why[field] === undefined ? "" : " (guessed)"}`,
  });
  const known = (ids: readonly string[], id: string) => options(ids.includes(id) ? ids : [id, ...ids]);
  const reasons = [...new Set(Object.values(row.why))];
  return (
    <fieldset className="min-w-0">
      <legend className="sr-only">What {row.name} is</legend>
      <div className="flex flex-wrap items-end gap-x-3 gap-y-2">
        <SelectField
          {...about("model", "Model")}
          className="max-w-full flex-1 basis-44"
          value={draft.model}
          options={known(
            (cards?.models ?? []).map(({ id }) => id),
            draft.model,
          )}
          onChange={(model) => onEdit({ model })}
        />
        <SelectField
          {...about("gpu", "GPU type")}
          className="max-w-full flex-1 basis-36"
          value={draft.gpu}
          options={known(
            (cards?.gpus ?? []).map(({ id }) => id),
            draft.gpu,
          )}
          onChange={(gpu) => onEdit({ gpu })}
        />
        <NumberField {...about("tp", "Tensor parallel")} min={1} max={64} whole value={draft.tp} onChange={(tp) => onEdit({ tp })} />
        <NumberField {...about("pp", "Pipeline")} min={1} max={64} whole value={draft.pp} onChange={(pp) => onEdit({ pp })} />
        <SelectField
          {...about("precision", "Precision")}
          value={draft.precision}
          options={options(precisions)}
          onChange={(chosen) => {
            const precision = precisions.find((each) => each === chosen);
            if (precision !== undefined) onEdit({ precision });
          }}
        />
      </div>
      {reasons.length > 0 && <p className="mt-1 text-xs text-ink-3">Guessed: {reasons.join(" ")}</p>}
      <LimitFields draft={draft} onEdit={onEdit} />
    </fieldset>
  );
}

/** Limits that the engine was started with, each with its source. An empty box: the engine's default is assumed. */
function LimitFields({ draft: { limits }, onEdit }: Pick<Editing, "onEdit"> & { readonly draft: EndpointDraft }) {
  const told = limits?.source === "engine";
  const said = (value: number | undefined, assumed: number): string =>
    value === undefined ? `assumed ${assumed}` : told ? "reported by the engine" : "entered";
  const enter = (change: EngineLimits): void => onEdit({ limits: { ...limits, ...change, source: "operator" } });
  return (
    <div className="mt-2 flex flex-wrap items-end gap-x-3 gap-y-2">
      <NumberField
        label={`Requests at once (${said(limits?.maxSequences, MAX_SEQUENCES)})`}
        min={1}
        max={100_000}
        whole
        value={limits?.maxSequences ?? null}
        onChange={(maxSequences) => enter({ maxSequences })}
      />
      <NumberField
        label={`Tokens a step (${said(limits?.maxBatchedTokens, MAX_BATCHED_TOKENS)})`}
        min={2}
        max={10_000_000}
        whole
        value={limits?.maxBatchedTokens ?? null}
        onChange={(maxBatchedTokens) => enter({ maxBatchedTokens })}
      />
      <p className="min-w-0 flex-1 basis-56 text-xs text-ink-3">
        Its start options: <code>--max-num-seqs</code> and <code>--max-num-batched-tokens</code> of vLLM. They limit the throughput that
        plans expect.
      </p>
    </div>
  );
}

/** Access to the engine: its key by reference, and its certificate authority. Open where the key is the obstacle. */
function AccessFields(props: {
  readonly row: EndpointRow;
  readonly endpoint: EndpointToTry;
  readonly onTryAgain: (endpoint: EndpointToTry) => void;
}) {
  const { row, endpoint, onTryAgain } = props;
  const [typed, setTyped] = useState<{ readonly key: ReferenceForm; readonly caFile: string } | null>(null);
  const { key, caFile } = typed ?? {
    key: endpoint.key === undefined ? noReference : referenceForm(endpoint.key),
    caFile: endpoint.caFile ?? "",
  };
  const wants = row.faults.some(({ what, level }) => level === "failed" && (what === "key" || what === "certificate"));
  const fault = typed === null ? null : referenceFault(key);
  return (
    <details open={wants || undefined}>
      <summary className="text-xs text-ink-3">
        Key, certificate, try again<span className="sr-only"> of {row.name}</span>
      </summary>
      <div className="mt-2 flex flex-wrap items-end gap-3">
        <ReferenceField label="API key" value={key} onChange={(next) => setTyped({ key: next, caFile })} />
        {row.url.startsWith("https:") && (
          <TextField
            label="CA file in the folder of secrets"
            className="flex-1 basis-48"
            value={caFile}
            placeholder="none: public authorities"
            maxLength={1000}
            onChange={(next) => setTyped({ key, caFile: next })}
          />
        )}
        <Button
          disabled={fault !== null || row.trying}
          aria-label={`Try ${row.name} again`}
          onClick={() => {
            const { key: _, caFile: __, ...rest } = endpoint;
            const reference = referenceOf(key);
            const ca = caFile.trim();
            onTryAgain({ ...rest, ...(reference === null ? {} : { key: reference }), ...(ca === "" ? {} : { caFile: ca }) });
          }}
        >
          Try again
        </Button>
      </div>
      {fault !== null && <p className="mt-1 text-xs text-bad">{fault}</p>}
    </details>
  );
}
