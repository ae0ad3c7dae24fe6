import { pipelineParallelisms, tensorParallelisms } from "@/solver/hardware/parallelism";
import { StateWord } from "../ui/Badge";
import { NumberField, SelectField } from "../ui/Field";
import { formatCount, formatGibibytes } from "../ui/format";
import { Panel } from "../ui/Panel";
import type { CardsView } from "./cardsCodec";
import { type CardList, fitOf } from "./prepareCards";

const ids = <Id extends string>(cards: readonly { readonly id: Id }[]) => cards.map(({ id }) => ({ value: id, text: id }));
const numbers = (values: readonly number[]) => values.map((value) => ({ value: String(value), text: String(value) }));

/** Whether one replica of a model fits on GPUs of one kind, and how many tokens its cache then holds. */
export function FitChecker(props: {
  readonly cards: CardList;
  readonly view: CardsView;
  readonly onChange: (change: Partial<CardsView>) => void;
}) {
  const { cards, view, onChange } = props;
  const fit = fitOf(cards, view);
  const model = cards.models.find((card) => card.id === view.model);
  return (
    <Panel title="Does it fit?">
      <div className="flex flex-col gap-4">
        <div className="grid gap-x-4 gap-y-3 [grid-template-columns:repeat(auto-fill,minmax(min(150px,100%),1fr))]">
          <SelectField label="Model" value={view.model} options={ids(cards.models)} onChange={(id) => onChange({ model: id })} />
          <SelectField label="GPU" value={view.gpu} options={ids(cards.gpus)} onChange={(id) => onChange({ gpu: id })} />
          <SelectField
            label="Tensor parallelism"
            value={String(view.tp)}
            options={numbers(tensorParallelisms)}
            onChange={(tp) => onChange({ tp: Number(tp) })}
          />
          <SelectField
            label="Pipeline stages"
            value={String(view.pp)}
            options={numbers(pipelineParallelisms)}
            onChange={(pp) => onChange({ pp: Number(pp) })}
          />
          <SelectField
            label="Weights"
            value={view.precision ?? "card"}
            options={[
              { value: "card" as const, text: model === undefined ? "as the card says" : `${model.precision} (card)` },
              ...ids([{ id: "bf16" }, { id: "fp8" }, { id: "int4" }]),
            ]}
            onChange={(precision) => onChange({ precision: precision === "card" ? null : precision })}
          />
          <SelectField
            label="KV cache"
            value={view.kv}
            options={ids<"bf16" | "fp8">([{ id: "bf16" }, { id: "fp8" }])}
            onChange={(kv) => onChange({ kv })}
          />
          <NumberField
            label="Memory for the engine"
            unit="%"
            min={10}
            max={100}
            value={view.memory}
            onChange={(memory) => onChange({ memory })}
          />
        </div>
        <p aria-live="polite" className="flex flex-wrap items-center gap-x-3 gap-y-1 text-sm">
          {fit === null ? (
            <>
              <StateWord tone="neutral">no card</StateWord>
              There is no card of {model === undefined ? view.model : view.gpu}: choose another.
            </>
          ) : fit.fits ? (
            <>
              <StateWord tone="good">fits</StateWord>
              {formatCount(fit.kvTokens)} KV tokens per replica of {view.tp * view.pp} {view.tp * view.pp === 1 ? "GPU" : "GPUs"};{" "}
              {formatGibibytes(fit.weightBytesPerGpu)} of weights and {formatGibibytes(fit.kvBytesPerGpu)} of cache on the fullest.
            </>
          ) : (
            <>
              <StateWord tone="bad">does not fit</StateWord>
              {fit.reason}.
            </>
          )}
        </p>
      </div>
    </Panel>
  );
}
