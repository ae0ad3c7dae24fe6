import { useId } from "react";
import { cssPercent } from "../charts/cssPercent";
import { StateWord } from "../ui/Badge";
import { CalibrationPlot } from "./CalibrationPlot";
import type { IntervalPicture, TrustRow } from "./prepareTrust";

/** An estimate between 0 and 1 with its interval: a dot on a bar, and a mark at the value of chance. A text is next to it. */
function IntervalBar({ picture, chance }: { readonly picture: IntervalPicture; readonly chance: number }) {
  return (
    <span aria-hidden="true" className="relative block h-4 w-full min-w-24">
      <span className="absolute inset-x-0 top-1/2 h-px bg-line-strong" />
      <span className="absolute inset-y-0 w-px bg-ink-3" style={{ left: cssPercent(chance) }} />
      <span
        className={`absolute top-1 h-2 rounded-sm ${picture.wide ? "border border-accent bg-(image:--hatch)" : "bg-accent/45"}`}
        style={{ left: cssPercent(picture.low), width: `max(3px, ${cssPercent(picture.high - picture.low)})` }}
      />
      <span
        className="absolute top-1/2 size-2 -translate-x-1/2 -translate-y-1/2 rounded-full border border-panel bg-ink"
        style={{ left: cssPercent(picture.at) }}
      />
    </span>
  );
}

/** An estimate in words with its picture; or a replacement text where there is none. */
function Estimated(props: {
  readonly name: string;
  readonly meaning: string;
  readonly picture: IntervalPicture | null;
  readonly none: string;
  readonly testId: string;
}) {
  const { picture } = props;
  return (
    <div className="flex min-w-0 flex-col gap-0.5">
      <dt className="text-xs text-ink-3">
        <span className="font-medium text-ink-2">{props.name}</span>: {props.meaning}
      </dt>
      {picture === null ? (
        <dd className="text-sm text-ink-3">{props.none}</dd>
      ) : (
        <>
          <dd className="text-sm" data-testid={props.testId}>
            <span className="text-base font-semibold">{picture.value}</span>{" "}
            <span className="text-ink-2">
              {picture.span}
              {picture.wide && ", wide: few labels"}
            </span>
          </dd>
          <dd>
            <IntervalBar picture={picture} chance={0.5} />
          </dd>
        </>
      )}
    </div>
  );
}

function Fact({ name, text }: { readonly name: string; readonly text: string }) {
  return (
    <div className="flex flex-col gap-0.5">
      <dt className="text-xs text-ink-3">{name}</dt>
      <dd className="text-sm">{text}</dd>
    </div>
  );
}

/** The trust in one measure: the verdict for the floor, its basis, and what to do. */
export function MeasureTrust({ row }: { readonly row: TrustRow }) {
  const id = useId();
  return (
    <section aria-labelledby={id} className="flex flex-col gap-3 border-t pt-4 first:border-0 first:pt-0" data-testid={`trust-${row.id}`}>
      <header className="flex flex-wrap items-center gap-x-3 gap-y-1">
        <h3 id={id} className="text-sm font-semibold">
          {row.name}
        </h3>
        <StateWord tone={row.tone}>{row.word}</StateWord>
        <span className="text-xs text-ink-3">{row.labels}</span>
      </header>
      {row.warning !== null && <p className="max-w-prose rounded-md bg-warn-soft px-3 py-1.5 text-sm text-warn">{row.warning}</p>}
      <div className="flex flex-wrap gap-x-8 gap-y-4">
        <div className="flex min-w-0 max-w-3xl flex-1 basis-80 flex-col gap-3">
          <dl className="grid min-w-0 content-start gap-x-8 gap-y-4 sm:grid-cols-6 sm:[&>*]:col-span-2 sm:[&>*:nth-child(-n+2)]:col-span-3">
            <Estimated
              name={row.aucByModel.length > 0 ? "AUC, mean over models" : "AUC"}
              meaning="how often it ranks a better answer above a worse one of the same model; a coin has 0.5"
              picture={row.auc}
              none="needs answers of one model that you labelled better and worse"
              testId="trust-auc"
            />
            <Estimated
              name="Agreement"
              meaning="how often you and it agree whether an answer is worth 50"
              picture={row.agreement}
              none="needs labels"
              testId="trust-agreement"
            />
            <Fact name="Noise of one reading" text={row.noise} />
            <Fact name="Verdicts that hang on the order" text={row.orderFlips} />
            <Fact name="Cost so far" text={row.cost} />
          </dl>
          {row.aucByModel.length > 0 && (
            <p className="text-xs text-ink-2" data-testid="trust-auc-models">
              AUC of each model's answers alone: {row.aucByModel.map(({ model, says }) => `${model} ${says}`).join("; ")}.
            </p>
          )}
        </div>
        {row.calibration.length > 0 && (
          <div className="flex flex-col gap-1">
            <CalibrationPlot name={row.name} dots={row.calibration} />
            {row.bias !== null && <p className="max-w-56 text-xs text-ink-2">{row.bias}</p>}
          </div>
        )}
      </div>
    </section>
  );
}
