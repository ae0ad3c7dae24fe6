import { ModelName } from "@/components/ui/ModelChip";
import type { ModelIdentity } from "@/components/ui/modelIdentity";
import { Table } from "@/components/ui/Table";
import type { DispatchSummary } from "./prepareDispatch";

const columns = [
  { key: "model", name: "Model" },
  { key: "share", name: "Answers" },
  { key: "confidence", name: "Confidence", numeric: true },
] as const;

/** Slack dispatch: the models between which requests are dispatched, the share that each answers, and how it chooses. */
export function DispatchFlow({
  summary,
  identities,
}: {
  readonly summary: DispatchSummary;
  readonly identities: ReadonlyMap<string, ModelIdentity>;
}) {
  return (
    <section aria-label="Slack dispatch" className="flex flex-col gap-3">
      <Table caption="Models of slack dispatch" columns={columns}>
        {summary.models.map(({ model, share, shareText, confidence }) => (
          <tr key={model}>
            <td className="whitespace-nowrap">
              <ModelName model={model} identities={identities} />
            </td>
            <td className="w-1/2">
              <span className="flex items-center gap-2">
                <span className="h-3 flex-1 overflow-hidden rounded bg-sunken" aria-hidden="true">
                  <span
                    className="block h-full rounded"
                    style={{ width: `${100 * share}%`, background: identities.get(model)?.hue ?? "var(--ink-2)" }}
                  />
                </span>
                <span className="w-12 text-right">{shareText}</span>
              </span>
            </td>
            <td className="text-right">{confidence}</td>
          </tr>
        ))}
      </Table>
      <dl className="grid gap-x-6 gap-y-2 text-sm md:grid-cols-3">
        {summary.facts.map(({ name, value, says }) => (
          <div key={name}>
            <dt className="text-xs text-ink-3">{name}</dt>
            <dd className="font-medium">{value}</dd>
            <dd className="text-xs text-ink-3">{says}</dd>
          </div>
        ))}
      </dl>
    </section>
  );
}
