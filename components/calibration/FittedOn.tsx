import { type EngineProfile, engineTitle } from "@/solver/hardware/engineProfile";
import { formatCount } from "../ui/format";

const spanText = ({ least, most }: { readonly least: number; readonly most: number }): string =>
  least === most ? formatCount(least) : `${formatCount(least)} to ${formatCount(most)}`;

/** The runs on which a profile was fitted. */
export function FittedOn({ profile }: { readonly profile: EngineProfile }) {
  const { fittedOn } = profile;
  if (fittedOn === null) return <p className="text-sm text-ink-3">The profile does not state the runs it was fitted on.</p>;
  const { rows, models, gpus, inputTokens, outputTokens, concurrency, asOf, emulated } = fittedOn;
  const facts = [
    ["Runs", `${formatCount(rows)} of ${emulated ? "emulated " : ""}${engineTitle(profile.engine)}, fitted ${asOf}`],
    ["Models", models.join(", ")],
    ["GPUs", gpus.join(", ")],
    ...("tp" in fittedOn ? [["Tensor parallelism", spanText(fittedOn.tp)] as const] : []),
    ["Prompt tokens", spanText(inputTokens)],
    ["Answer tokens", spanText(outputTokens)],
    ["Requests in flight", spanText(concurrency)],
  ] as const;
  return (
    <dl className="grid grid-cols-[auto_1fr] gap-x-4 gap-y-1 text-sm">
      {facts.map(([name, value]) => (
        <div key={name} className="contents">
          <dt className="text-ink-3">{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}
