import { useQuery } from "@tanstack/react-query";
import { useTRPC } from "../api/trpc";
import { ClusterLink } from "../shell/ClusterLink";
import { Badge, StateWord } from "../ui/Badge";
import { Button } from "../ui/Button";
import { formatCounted } from "../ui/format";
import { ModelName } from "../ui/ModelChip";
import { useModelIdentities } from "../ui/useModelIdentities";
import { AddressFields, PriceFields } from "./AnswererFields";
import type { EndpointCluster, RunningModel } from "./profileEndpoints";
import { type AnswererForm, atUrl, ofCluster } from "./profileForm";

const stateOf = ({ engines, serving }: RunningModel) =>
  serving === engines
    ? ({ tone: "good", word: formatCounted(engines, "engine") } as const)
    : serving > 0
      ? ({ tone: "warn", word: `${serving} of ${engines} engines answer` } as const)
      : ({ tone: "bad", word: "does not answer" } as const);

/** Models that answer the prompts: those on connected clusters, and any at another address. */
export function CandidateList(props: {
  readonly ground: readonly EndpointCluster[];
  readonly chosen: readonly AnswererForm[];
  readonly elsewhere: readonly AnswererForm[];
  readonly onChange: (change: { readonly chosen?: readonly AnswererForm[]; readonly elsewhere?: readonly AnswererForm[] }) => void;
}) {
  const { ground, chosen, elsewhere, onChange } = props;
  const cards = (useQuery(useTRPC().cards.list.queryOptions()).data?.models ?? []).map(({ id }) => id);
  const identities = useModelIdentities([...new Set(ground.flatMap(({ models }) => models.map(({ model }) => model)))]);
  const isOf = (clusterId: string, model: string) => (each: AnswererForm) => each.clusterId === clusterId && each.model === model;
  const gone = chosen.filter(
    ({ clusterId, model }) => !ground.some(({ id, models }) => id === clusterId && models.some((each) => each.model === model)),
  );
  const without = (one: AnswererForm) => chosen.filter((each) => each !== one);
  const running = ground.filter(({ models }) => models.length > 0);
  return (
    <div className="flex flex-col gap-4">
      {running.length === 0 && (
        <p className="text-sm text-ink-3">
          No engine runs on a connected cluster. <ClusterLink to="/plan">Apply a plan</ClusterLink> that runs the models, or name a model at
          another address.
        </p>
      )}
      {running.map((cluster) => (
        <fieldset key={cluster.id} className="min-w-0">
          <legend className="mb-1 flex flex-wrap items-center gap-2 text-xs text-ink-3">
            Run on {cluster.name} now {cluster.emulated && <Badge tone="hatched">emulated</Badge>}
          </legend>
          <ul className="list-none">
            {cluster.models.map((each) => {
              const one = chosen.find(isOf(cluster.id, each.model));
              const state = stateOf(each);
              return (
                <li key={each.model} className="flex flex-wrap items-center gap-x-4 gap-y-1 border-b py-1 last:border-0">
                  <label className="inline-flex min-h-8 items-center gap-2 text-sm">
                    <input
                      type="checkbox"
                      className="size-4 accent-(--accent)"
                      checked={one !== undefined}
                      onChange={(event) =>
                        onChange({
                          chosen: event.target.checked ? [...chosen, ofCluster(cluster.id, each.model)] : chosen.filter((it) => it !== one),
                        })
                      }
                    />
                    <ModelName model={each.model} identities={identities} />
                  </label>
                  <StateWord tone={state.tone}>{state.word}</StateWord>
                  {one !== undefined && (
                    <details className="min-w-0">
                      <summary className="text-xs text-ink-3">
                        {one.usdPerMillionInputTokens + one.usdPerMillionOutputTokens === 0
                          ? "costs nothing more"
                          : `$${one.usdPerMillionInputTokens} in, $${one.usdPerMillionOutputTokens} out a million tokens`}
                        <span className="sr-only">: price of {each.model}</span>
                      </summary>
                      <div className="flex flex-wrap items-end gap-3 py-1">
                        <PriceFields
                          who={each.model}
                          value={one}
                          onChange={(change) => onChange({ chosen: chosen.map((it) => (it === one ? { ...it, ...change } : it)) })}
                        />
                      </div>
                    </details>
                  )}
                </li>
              );
            })}
          </ul>
        </fieldset>
      ))}
      {gone.map((each) => (
        <p key={`${each.clusterId} ${each.model}`} className="flex flex-wrap items-center gap-3 text-sm text-warn">
          {each.model} was chosen and runs there no more.
          <Button aria-label={`Leave ${each.model} out`} onClick={() => onChange({ chosen: without(each) })}>
            Leave it out
          </Button>
        </p>
      ))}
      {elsewhere.map((each, index) => (
        <fieldset key={index} className="flex min-w-0 flex-col gap-3 rounded-md border p-3">
          <legend className="px-1 text-xs text-ink-3">At another address</legend>
          <AddressFields
            who={`model ${index + 1}`}
            value={each}
            cards={cards}
            onChange={(change) => onChange({ elsewhere: elsewhere.map((it, at) => (at === index ? { ...it, ...change } : it)) })}
          />
          <div>
            <Button
              aria-label={`Leave out model ${index + 1} at another address`}
              onClick={() => onChange({ elsewhere: elsewhere.filter((_, at) => at !== index) })}
            >
              Leave it out
            </Button>
          </div>
        </fieldset>
      ))}
      <div>
        <Button onClick={() => onChange({ elsewhere: [...elsewhere, atUrl] })}>Add a model at another address</Button>
      </div>
    </div>
  );
}
