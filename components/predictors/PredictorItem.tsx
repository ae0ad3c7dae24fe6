import { useMemo } from "react";
import type { ListedArtefact } from "@/server/contracts/studio";
import { usePredictorAct } from "../api/acts";
import { useTRPCClient } from "../api/trpc";
import { ClusterLink } from "../shell/ClusterLink";
import { Badge } from "../ui/Badge";
import { CopyButton } from "../ui/CopyButton";
import { formatCount, formatDate, shortHash } from "../ui/format";
import { Notes } from "../ui/Notes";
import { RemoveButton } from "../ui/RemoveButton";
import { Table } from "../ui/Table";
import { preparePredictor } from "./preparePredictor";

/** One trained predictor: its training data, its error on held-out data, and the plans that use it. */
export function PredictorItem({ artefact }: { readonly artefact: ListedArtefact }) {
  const client = useTRPCClient();
  const picture = useMemo(() => preparePredictor(artefact), [artefact]);
  const remove = usePredictorAct(() => client.artefacts.remove.mutate({ hash: artefact.hash }));
  const { hash, bytes, createdAt, actor, plans, training } = artefact;
  const columns = [
    { key: "model", name: artefact.kind === "configurations" ? "Models" : "Model" },
    ...picture.columns.map((name) => ({ key: name, name, numeric: true })),
  ];
  return (
    <li className="flex flex-col gap-2 border-b py-4 first:pt-0 last:border-0 last:pb-0" data-testid="predictor">
      <div className="flex flex-wrap items-center gap-2">
        <h3 className="text-sm font-medium [overflow-wrap:anywhere]">{picture.title}</h3>
        {training.emulated && <Badge tone="hatched">emulated</Badge>}
        {plans.some(({ inForce }) => inForce) && <Badge tone="accent">in force</Badge>}
        <div className="ml-auto flex flex-wrap items-center gap-2 text-xs text-ink-3">
          <CopyButton text={hash} label="Copy hash" />
          <RemoveButton
            name={picture.title}
            kind="predictor"
            nameInLabel
            consequences={
              plans.length === 0
                ? "No saved plan uses it. Training again on the same data gives the same hash."
                : `${plans.map(({ name }) => name).join(", ")} can then no longer be approved or put into force. Training again on the same data gives the same hash.`
            }
            removal={remove}
          />
        </div>
      </div>
      <p className="text-xs text-ink-3 [overflow-wrap:anywhere]">
        Trained on {picture.trainedOn}; {formatDate(createdAt)} by {actor}; {formatCount(Math.ceil(bytes / 1024))} KiB;{" "}
        <span className="font-mono">{shortHash(hash)}</span>
      </p>
      <div className="max-w-3xl">
        <Table caption={`How well ${picture.title} does`} columns={columns} stacked>
          {picture.rows.map(({ model, figures }) => (
            <tr key={model}>
              <td className="[overflow-wrap:anywhere] max-sm:w-full">{model}</td>
              {figures.map((figure, at) => (
                <td key={picture.columns[at]} data-name={picture.columns[at]} className="text-right tabular-nums">
                  {figure}
                </td>
              ))}
            </tr>
          ))}
        </Table>
      </div>
      <p className="max-w-prose text-xs text-ink-3">{picture.legend}</p>
      <Notes items={picture.warnings} className="max-w-prose text-xs text-warn" />
      <p className="text-xs text-ink-2">
        {plans.length === 0 ? (
          "No saved plan uses it."
        ) : (
          <>
            Named by{" "}
            {plans.map(({ id, name, inForce }, at) => (
              <span key={id}>
                {at > 0 && ", "}
                <ClusterLink to={`/apply/${id}`} className="underline underline-offset-2">
                  {name}
                </ClusterLink>
                {inForce && " (in force)"}
              </span>
            ))}
            .
          </>
        )}
      </p>
    </li>
  );
}
