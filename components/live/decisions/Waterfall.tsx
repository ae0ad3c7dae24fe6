import { formatSeconds } from "@/components/ui/format";
import type { ModelIdentity } from "@/components/ui/modelIdentity";
import type { Waterfall as Drawn, WaterfallPart } from "./prepareWaterfall";

/** Distinguished by form, not by hue alone: the engine's time is filled, waiting is an outline, the judge is dotted, a failure hatched. */
const looks: Readonly<Record<WaterfallPart["kind"], string>> = {
  queue: "border border-ink-3",
  engine: "bg-(--hue)",
  failed: "hatched border border-bad",
  judge: "border-2 border-dotted border-accent",
};

const legend = [
  ["queue", "waiting"],
  ["engine", "engine"],
  ["judge", "judge"],
  ["failed", "failed attempt"],
] as const;

/** Where a request's time went: one row per attempt, to the scale of the whole. The gaps are the gateway's own time. */
export function Waterfall({ drawn, identities }: { readonly drawn: Drawn; readonly identities: ReadonlyMap<string, ModelIdentity> }) {
  const { totalSeconds, rows, firstToken } = drawn;
  const seen = new Set(rows.flatMap(({ parts }) => parts.map(({ kind }) => kind)));
  return (
    <figure className="flex flex-col gap-1 text-xs">
      <ol className="relative flex list-none flex-col gap-1">
        {rows.map(({ model, parts }, at) => (
          <li key={at} className="flex items-center gap-2">
            <span className="w-28 shrink-0 truncate" title={model}>
              {model}
            </span>
            <span className="relative block h-4 min-w-0 flex-1 rounded-sm bg-sunken">
              {parts.map(({ kind, from, share, text }) => (
                <span
                  key={kind}
                  title={text}
                  className={`absolute inset-y-0.5 min-w-0.5 rounded-[2px] ${looks[kind]}`}
                  style={
                    {
                      left: `${from * 100}%`,
                      width: `${share * 100}%`,
                      "--hue": identities.get(model)?.hue ?? "var(--ink-2)",
                    } as React.CSSProperties
                  }
                >
                  <span className="sr-only">{text}. </span>
                </span>
              ))}
            </span>
          </li>
        ))}
      </ol>
      <div aria-hidden="true" className="flex gap-2 text-ink-3">
        <span className="w-28 shrink-0" />
        <span className="relative flex h-4 min-w-0 flex-1 justify-between border-t">
          <span>0</span>
          {firstToken !== null && <span className="absolute -top-1 h-2 w-0.5 bg-ink" style={{ left: `${firstToken * 100}%` }} />}
          <span>{formatSeconds(totalSeconds)}</span>
        </span>
      </div>
      <figcaption className="flex flex-wrap gap-x-4 gap-y-1 text-ink-3">
        {legend
          .filter(([kind]) => seen.has(kind))
          .map(([kind, name]) => (
            <span key={kind} className="inline-flex items-center gap-1.5">
              <span aria-hidden="true" className={`h-3 w-5 rounded-[2px] ${looks[kind]} [--hue:var(--ink-2)]`} />
              {name}
            </span>
          ))}
        <span>empty: the gateway itself</span>
        {firstToken !== null && <span>tick on the scale: first token</span>}
      </figcaption>
    </figure>
  );
}
